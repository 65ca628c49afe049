/** Responses whose bytes are made here: rendered once, sent with a validator that requests can name, cached. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { memoize, OVERHEAD_BYTES } from '#shared/caching.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { matchesNone } from '../requests/entity-tags.ts';
import { JSON_MEDIA_TYPE } from './headers.ts';

type Headers = Readonly<Record<string, string>>;

/** The bytes of a response with their validator. */
export type RenderedResponse = {
  /** Default: JSON. */
  mediaType?: string | undefined;
  /** UTF-8, where it is text. */
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
