/** A body on its way in: refused before it is read, read within the budget, parsed, let go with the response. */
import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type {
  FastifyRequest,
  onSendHookHandler,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify';
import type { z } from 'zod';
import { releaseMemory } from '#shared/bytes.ts';
import { TrackportError } from '#shared/errors.ts';
import type { JsonRules } from '#shared/text/json.ts';
import { type HttpApp, hangUpOf, type ReadBody } from '../context.ts';
import { isBodiless, isBodilessRoute } from '../route.ts';
import { mediaTypeProblem, notJson } from './headers.ts';

/** Members and elements of a body: many times what any of our routes can use. */
const VALUES_MAX = 10_000;

/** `parseJsonText`, wherever it runs. */
export type ParseJson = (bytes: Buffer, rules: JsonRules, signal?: AbortSignal) => unknown;

type Readers = { read: ReadBody; parse: ParseJson };

/** Bodies are `application/json` in UTF-8, not compressed, and parsed by our own strict rules. */
export function acceptJson(app: HttpApp, { read, parse }: Readers): void {
  takeBodies(app, { types: ['application/json'], read }, (request, bytes) =>
    toBody(request, bytes, () => parse(bytes, { valuesMax: VALUES_MAX }, hangUpOf(request))),
  );
}

/** Returns the body, or a promise of it. */
type Parse = (request: FastifyRequest, bytes: Buffer) => unknown;

/** In this scope, and below it, bodies of these types are read and parsed, and no others. */
export function takeBodies(
  app: HttpApp,
  { types, read }: { types: string[] | RegExp; read: ReadBody },
  parse: Parse,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(types, async (request: FastifyRequest, payload: Readable) =>
    parse(request, await read(request, payload)),
  );
  app.addContentTypeParser('*', takeNothing);
}

/**
 * An empty body is none, whatever it is called and also when it comes in chunks. Of any other the
 * first byte is too much.
 */
async function takeNothing(request: FastifyRequest, payload: Readable): Promise<undefined> {
  if ((declaredBytes(request) ?? 0) > 0) throw notJson();
  await collectBytes(payload, 0, () => notJson());
}

/**
 * The parsed body of a request. Some clients announce JSON with every request, so that an empty body is
 * none where none is needed.
 */
export async function toBody(
  request: FastifyRequest,
  bytes: Buffer,
  parse: () => unknown,
): Promise<unknown> {
  const schema = request.routeOptions.schema?.body as z.ZodType | undefined;
  const isNone = bytes.length === 0 && (!schema || schema.safeParse(undefined).success);
  return isNone ? undefined : parse();
}

/**
 * In this scope, and below it, `request.body` is the untouched bytes: what a signature covers.
 * A request without a body has an empty buffer.
 */
export function acceptRawJson(
  app: HttpApp,
  read: ReadBody,
  types: string[] | RegExp = ['application/json'],
): void {
  takeBodies(app, { types, read }, (_request, bytes) => bytes);
}

/** The bytes of a request in a scope of `acceptRawJson`. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/**
 * Compressed bodies, other charsets and what is said to be too large are refused before a byte of the
 * body is read, and before the route's own `preParsing`. A body of a GET means nothing (RFC 9110
 * section 9.3.1), is never looked at, and costs no hook.
 */
export function checkBodies(route: RouteOptions): void {
  if (isBodilessRoute(route)) return;
  route.preParsing = [checkBeforeReading, ...[route.preParsing ?? []].flat()];
}

const checkBeforeReading: preParsingHookHandler = (request, _reply, payload, done) => {
  done(isBodiless(request.method) ? null : unreadProblem(request), payload);
};

function unreadProblem(request: FastifyRequest): TrackportError | null {
  const problem = mediaTypeProblem(request);
  if (problem) return problem;
  const { bodyLimit } = request.routeOptions;
  return (declaredBytes(request) ?? 0) > bodyLimit ? tooLarge() : null;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Fastify's own reading bounds each body, but not all of them together. What a body holds is
 * counted until its response is sent: see `releaseBodies`.
 */
export function createBodyReader(budget: BodyBudget): ReadBody {
  return async (request, payload) => {
    if (!budget.hasRoomFor(declaredBytes(request) ?? 0)) throw noRoom();
    const hold = (request.bodyHold = budget.hold());
    const { bodyLimit } = request.routeOptions;
    let bytes = 0;
    return collectBytes(payload, bodyLimit, (more) => {
      bytes += more;
      if (bytes > bodyLimit) return tooLarge();
      return hold.grow(bytes) ? undefined : noRoom();
    });
  };
}

/** All bytes of a body, `bytesMax` at most, unless `refuse` has something against the next ones. */
export function collectBytes(
  payload: Readable,
  bytesMax: number,
  refuse: (bytes: number) => Error | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = createBodyBytes(payload, bytesMax);
    const finish = (error?: Error): void => {
      payload.off('data', onData).off('end', onEnd).off('error', finish);
      if (!error) return resolve(body.take());
      body.drop();
      reject(error);
    };
    const onEnd = (): void => finish();
    const onData = (chunk: Buffer): void => {
      const refusal = refuse(chunk.length);
      if (refusal) finish(refusal);
      else body.add(chunk);
    };
    payload.on('data', onData).on('end', onEnd).on('error', finish);
  });
}

/** A body is not needed any more when the response is sent, also when its client has gone. */
export function releaseBodies(route: RouteOptions): void {
  if (isBodilessRoute(route)) return;
  route.onSend = [releaseBody, ...[route.onSend ?? []].flat()];
}

const releaseBody: onSendHookHandler = (request, _reply, payload, done) => {
  request.bodyHold?.release();
  done(null, payload);
};

/** Bytes that the body is said to have; undefined when it comes in chunks. Node checks the number. */
export function declaredBytes({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (length !== undefined) return Number(length);
  return encoding === undefined ? 0 : undefined;
}

/** The 413 of a body beyond the limit of its route. */
function tooLarge(): TrackportError {
  return new TrackportError('payload-too-large', {
    detail: 'The body is larger than this path accepts.',
  });
}

function noRoom(): TrackportError {
  return new TrackportError('overloaded', {
    detail: 'Too many large bodies are on their way. Smaller ones are taken.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Bodies up to this size are not counted, so that small requests pass whatever large ones do. */
const SMALL_BODY_BYTES_MAX = 64 * 1024;

/** The memory of one body in flight. */
type BodyHold = {
  /** Counts the bytes that have come so far. False, and the whole body is let go, when there is no room. */
  grow(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
};

/** Bounds the memory of the bodies that are read or worked on at the same time. */
export type BodyBudget = {
  /** True when a body of so many bytes would find room now. */
  hasRoomFor(bytes: number): boolean;
  hold(): BodyHold;
  /** Bytes of large bodies that are held now. */
  heldBytes(): number;
};

/** A body counts, with all of its bytes, from the moment it is no longer small. */
export function createBodyBudget(bytesMax: number): BodyBudget {
  let heldBytes = 0;
  const hold = (): BodyHold => {
    let counted = 0;
    const release = (): void => {
      heldBytes -= counted;
      counted = 0;
    };
    return {
      grow: (bytes) => {
        if (bytes <= SMALL_BODY_BYTES_MAX) return true;
        const more = bytes - counted;
        if (heldBytes + more > bytesMax) {
          release();
          return false;
        }
        heldBytes += more;
        counted = bytes;
        return true;
      },
      release,
    };
  };
  return {
    hasRoomFor: (bytes) => bytes <= SMALL_BODY_BYTES_MAX || heldBytes + bytes <= bytesMax,
    hold,
    heldBytes: () => heldBytes,
  };
}

/**
 * Larger bodies get memory that the operating system hands out and takes back as a whole. That of
 * many chunks and their sum stays with the process for good, in pieces that fit nothing else.
 */
const PIECEMEAL_BYTES_MAX = 1024 * 1024;

/** A body as it comes. */
type BodyBytes = {
  add(chunk: Buffer): void;
  /** All of it; once, at its end. Of a large body the memory is its own. */
  take(): Buffer;
  /** The body is not wanted any more. */
  drop(): void;
};

/** `bytesMax`: more are never added. */
export function createBodyBytes(payload: Readable, bytesMax: number): BodyBytes {
  // Chunks of Node's parser are copies that nobody else has.
  const mayFree = payload instanceof IncomingMessage;
  let chunks: Buffer[] = [];
  let length = 0;
  let memory: ArrayBuffer | undefined;
  const copy = (into: ArrayBuffer, chunk: Buffer): void => {
    const end = length + chunk.length;
    if (into.byteLength < end) into.resize(Math.min(bytesMax, Math.max(end, 2 * into.byteLength)));
    new Uint8Array(into).set(chunk, length);
    length = end;
    if (mayFree) releaseMemory(chunk);
  };
  const gather = (): ArrayBuffer => {
    const gathered = new ArrayBuffer(0, { maxByteLength: bytesMax });
    length = 0;
    for (const chunk of chunks) copy(gathered, chunk);
    chunks = [];
    return gathered;
  };
  return {
    add: (chunk) => {
      if (!memory && length + chunk.length > PIECEMEAL_BYTES_MAX) memory = gather();
      if (memory) copy(memory, chunk);
      else {
        chunks.push(chunk);
        length += chunk.length;
      }
    },
    take: () => {
      memory?.resize(length);
      return memory ? Buffer.from(memory, 0, length) : Buffer.concat(chunks, length);
    },
    drop: () => {
      chunks = [];
      memory?.transferToFixedLength(0);
    },
  };
}
