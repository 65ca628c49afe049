import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { CacheFacts } from '#leads/reading/lead-reader.ts';
import { memoize, OVERHEAD_BYTES } from '#shared/caching.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import type { Exchange } from '../context.ts';
import { matchesNone } from '../requests/headers.ts';

/** Of every response that we serialize ourselves rather than leave to the framework. */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

const TEXT_BYTES_MAX = 8 * 1024;

/** The bytes of a response with their validator. */
export type RenderedResponse = {
  /** Default: JSON. */
  mediaType?: string | undefined;
  /**
   * UTF-8. Short ones as text with a character for each byte (`latin1`): Node then sends headers and body
   * in one write, and need not encode them.
   */
  bytes: Buffer | string;
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
    return { bytes: toSendable(bytes), etag: strongEtag(bytes) };
  });
}

/** The bytes of a text in the form in which they are sent. */
export function toSendable(bytes: Buffer): RenderedResponse['bytes'] {
  return bytes.length <= TEXT_BYTES_MAX ? bytes.toString('latin1') : bytes;
}

/**
 * `Cache-Status` of a response (RFC 9211 §2; `hit` and `fwd` exclude each other). For a stale one the
 * tracker failed, whatever its response was: 503 stands for that.
 */
export function cacheStatus({ outcome, ttlMs }: CacheFacts): string {
  const ttl = Math.floor(ttlMs / 1000);
  if (outcome === 'stale') return `trackport; fwd=stale; fwd-status=503; ttl=${Math.min(ttl, 0)}`;
  // What was fresh when it was chosen is never called stale for having taken a moment.
  const how = outcome === 'hit' ? 'hit' : 'fwd=miss; stored';
  return `trackport; ${how}; ttl=${Math.max(ttl, 0)}`;
}

/**
 * Sends what is rendered already, or 304 to a caller that has it. `headers` are names, each with its
 * value behind it. `ETag`, `Content-Type` and `Content-Length` come by themselves, and so do
 * `request.headersOut`; nothing that was set on `reply` does.
 *
 * It is written past the framework, which never sees it and runs no `onSend` hook: for what the framework does with a value
 * and with each header a hot lead pays a quarter of its processor time again (28 µs → 36, three runs).
 */
export function sendRendered(
  { request, reply }: Exchange,
  { bytes, etag, mediaType = JSON_MEDIA_TYPE }: RenderedResponse,
  headers: readonly string[],
): undefined {
  const all = request.headersOut ?? [];
  all.push('etag', etag);
  addHeaders(all, headers);
  const hasIt = matchesNone(request.headers['if-none-match'], etag);
  if (!hasIt) all.push('content-type', mediaType, 'content-length', String(bytes.length));
  reply.raw.writeHead(hasIt ? 304 : 200, all); // what it throws is still the framework's to report
  reply.hijack();
  if (hasIt) reply.raw.end();
  else reply.raw.end(bytes, 'latin1');
  return undefined;
}

/** One `Vary` for all that the response depends on, as the framework has it: some caches take the last one. */
function addHeaders(all: string[], added: readonly string[]): void {
  for (let at = 0; at < added.length; at += 2) {
    const [name = '', value = ''] = added.slice(at, at + 2);
    const place = name === 'vary' ? all.indexOf(name) : -1;
    if (place === -1) all.push(name, value);
    else all[place + 1] = `${value}, ${all[place + 1]}`;
  }
}

/** With the headers that it is sent with: names, each with its value behind it. */
type CachedResponse = RenderedResponse & { headers: readonly string[] };

/** Rendered responses that hold for as long as nothing at all was written to the store. */
export type ResponseCache = {
  /** The response under `key`, made now unless it was made since the last write. */
  read(key: string, make: () => Promise<CachedResponse>): Promise<CachedResponse>;
};

const BYTES_MAX = 16 * 1024 * 1024;
const RESPONSE_BYTES_MAX = 1024 * 1024;

/** `version` is another number whenever the store may have changed. */
export function createResponseCache(version: () => Promise<number>): ResponseCache {
  const cache = new LRUCache<string, { response: CachedResponse; version: number }>({
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
