/** Reads whose bytes are made here: rendered once, with a validator, and sent when there is room for them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { CacheStatus } from '#leads/reading/lead-reader.ts';
import { memoize, OVERHEAD_BYTES } from '#shared/caching.ts';
import { SECOND } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { TrackportError } from '#shared/errors.ts';
import { createTurns } from '#shared/resilience/turns.ts';
import { matchesNone } from '../requests/headers.ts';

/** Of every response that we serialize ourselves rather than leave to the framework. */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

type Headers = Readonly<Record<string, string>>;

/** The bytes of a response with their validator. */
export type RenderedResponse = {
  /** Default: JSON. */
  mediaType?: string | undefined;
  /** UTF-8. */
  bytes: Buffer;
  etag: string;
};

/** A strong validator over the exact bytes of a response (RFC 9110 §8.8.3). */
export function strongEtag(bytes: Buffer): string {
  return `"${sha256(bytes).subarray(0, 16).toString('base64url')}"`;
}

/** Renders values through a schema, so that nothing unnamed can leave; the same object once. */
export function createRenderer(schema: z.ZodType): (value: object) => RenderedResponse {
  return renderOnce((value) => Buffer.from(JSON.stringify(z.encode(schema, value))));
}

/** Renders values by a function of their own; the same object once. */
export function renderOnce<Value extends object>(
  toBytes: (value: Value) => Buffer,
): (value: Value) => RenderedResponse {
  return memoize((value) => {
    const bytes = toBytes(value);
    return { bytes, etag: strongEtag(bytes) };
  });
}

/**
 * `Cache-Status` of a response (RFC 9211 §2; `hit` and `fwd` exclude each other). For a stale one the
 * tracker failed, whatever its response was: 503 stands for that.
 */
export function cacheStatus({ outcome, ttlMs }: CacheStatus): string {
  const ttl = Math.floor(ttlMs / 1000);
  if (outcome === 'stale') return `trackport; fwd=stale; fwd-status=503; ttl=${Math.min(ttl, 0)}`;
  // An answer that was fresh when it was chosen is never called stale for having taken a moment.
  const how = outcome === 'hit' ? 'hit' : 'fwd=miss; stored';
  return `trackport; ${how}; ttl=${Math.max(ttl, 0)}`;
}

/** Sends what is rendered already, or 304 to a caller that has it. */
export function sendRendered(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { bytes, etag, mediaType = JSON_MEDIA_TYPE }: RenderedResponse,
  headers: Headers = {},
): undefined {
  reply.headers(headers).header('etag', etag);
  if (matchesNone(request.headers['if-none-match'], etag)) void reply.code(304).send();
  else void reply.header('content-type', mediaType).send(bytes);
  return undefined;
}

/** With the headers that it is sent with. */
export type CachedResponse = RenderedResponse & { headers: Headers };

/** Rendered responses that hold for as long as nothing at all was written to the store. */
export type ResponseCache<Response extends CachedResponse> = {
  /** The response under `key`, made now unless it was made since the last write. */
  read(key: string, make: () => Promise<Response>): Promise<Response>;
};

const BYTES_MAX = 16 * 1024 * 1024;
const RESPONSE_BYTES_MAX = 1024 * 1024;

/** `version` is another number whenever the store may have changed. */
export function createResponseCache<Response extends CachedResponse>(
  version: () => Promise<number>,
): ResponseCache<Response> {
  const cache = new LRUCache<string, { response: Response; version: number }>({
    maxSize: BYTES_MAX,
    maxEntrySize: RESPONSE_BYTES_MAX,
    sizeCalculation: ({ response }, key) => OVERHEAD_BYTES + key.length + response.bytes.length,
  });
  return {
    read: async (key, make) => {
      // Read before the response is made: a write in between must not be missed.
      const now = await version();
      const cached = cache.get(key);
      if (cached?.version === now) return cached.response;
      const response = await make();
      cache.set(key, { response, version: now });
      return response;
    },
  };
}

/** Bound on the answers that one consumer has been sent and has not read. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** Answers of more bytes together are made in several turns of the event loop; short ones go on at once. */
const BYTES_A_TURN = 1024 * 1024;
const SHORT_BYTES_MAX = 64 * 1024;
/** So long an answer waits for the consumer to read what it was sent before. */
const WAIT_MAX_MS = 10 * SECOND;

type Waiting = { bytes: number; begin: () => void };
/** Of one consumer. */
type Account = { unread: number; waiting: Set<Waiting> };
type Limits = { bytesMax: number; waitMaxMs: number };

/** Keeps answers that nobody reads from filling the memory: they are not made before there is room for them. */
export type Unread = {
  /**
   * Calls `send`, which makes an answer of so many bytes and sends it: at once, or when the consumer has read
   * what it was sent before.
   * @throws {quota-exceeded} it reads nothing
   */
  send<T>(request: FastifyRequest, bytes: number, send: () => T): T | Promise<T>;
  /** The same for a part of an answer: what it gives is to be called when the part was read. */
  take(request: FastifyRequest, bytes: number): Promise<() => void>;
};

export function createUnread(limits: Partial<Limits> = {}): Unread {
  const all = { bytesMax: UNREAD_BYTES_MAX, waitMaxMs: WAIT_MAX_MS, ...limits };
  const accounts = new Map<string, Account>();
  const turn = createTurns(BYTES_A_TURN);
  const accountOf = ({ keyHolder }: FastifyRequest): Account => {
    const consumerId = keyHolder?.principal.consumerId ?? '';
    const account = accounts.get(consumerId) ?? { unread: 0, waiting: new Set() };
    accounts.set(consumerId, account);
    return account;
  };
  return {
    send: (request, bytes, send) => {
      const account = accountOf(request);
      const begin = () => {
        const { responseOut } = request;
        const giveBack = (): void => change(account, all, -bytes);
        if (responseOut?.closed === true) giveBack();
        else responseOut?.once('close', giveBack);
        return send();
      };
      const room = takeRoom(account, all, { request, bytes });
      if (!room && bytes <= SHORT_BYTES_MAX) return begin();
      return Promise.resolve(room)
        .then(() => turn(bytes))
        .then(begin);
    },
    take: async (request, bytes) => {
      const account = accountOf(request);
      await takeRoom(account, all, { request, bytes });
      return () => change(account, all, -bytes);
    },
  };
}

function hasRoom({ unread }: Account, { bytesMax }: Limits, bytes: number): boolean {
  return unread === 0 || unread + bytes <= bytesMax;
}

/** Those that wait begin in the order in which they came. */
function change(account: Account, limits: Limits, bytes: number): void {
  account.unread += bytes;
  for (const next of account.waiting) {
    if (!hasRoom(account, limits, next.bytes)) return;
    next.begin();
  }
}

/** Undefined: there is room now, and it is taken. */
function takeRoom(
  account: Account,
  limits: Limits,
  { request: { responseOut }, bytes }: { request: FastifyRequest; bytes: number },
): Promise<void> | undefined {
  if (account.waiting.size === 0 && hasRoom(account, limits, bytes)) {
    account.unread += bytes;
    return undefined;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const own: Waiting = {
    bytes,
    begin: () => {
      account.waiting.delete(own);
      account.unread += bytes;
      resolve();
    },
  };
  account.waiting.add(own);
  const giveUp = (): void => {
    if (!account.waiting.delete(own)) return;
    reject(refusal());
    change(account, limits, 0);
  };
  const timer = setTimeout(giveUp, limits.waitMaxMs);
  responseOut?.once('close', giveUp);
  return promise.finally(() => clearTimeout(timer));
}

function refusal(): TrackportError {
  return new TrackportError('quota-exceeded', {
    detail: 'Too many answers wait for this consumer to read them. Read them, and then ask again.',
    retryAfterSeconds: 5,
  });
}
