import { z } from 'zod';
import type { CacheFacts } from '#leads/reading/lead-response.ts';
import { memoize } from '#shared/resilience/memoize.ts';
import { strongEtag } from './entity-tag.ts';

/** Of every answer that we serialize ourselves rather than leave to the framework. */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

const TEXT_BYTES_MAX = 8 * 1024;

/** The bytes of an answer with their validator. */
export type Rendered = {
  /** Short ones as text: Node then sends headers and body in one write. */
  body: Buffer | string;
  etag: string;
};

/** Renders values through a schema, so that nothing unnamed can leave; the same object once. */
export function createRenderer(schema: z.ZodType): (value: object) => Rendered {
  return memoize((value: object) => {
    const text = JSON.stringify(z.encode(schema, value));
    const bytes = Buffer.from(text);
    return { body: bytes.length <= TEXT_BYTES_MAX ? text : bytes, etag: strongEtag(bytes) };
  });
}

/**
 * `Cache-Status` of an answer (RFC 9211 §2; `hit` and `fwd` exclude each other). A stale one was
 * asked of the tracker in vain, whatever the tracker answered: 503 stands for that.
 */
export function cacheStatus({ outcome, ttlMs }: CacheFacts): string {
  const ttl = Math.floor(ttlMs / 1000);
  if (outcome === 'stale') return `trackport; fwd=stale; fwd-status=503; ttl=${Math.min(ttl, 0)}`;
  // An answer that was fresh when it was chosen is never called stale for having taken a moment.
  const how = outcome === 'hit' ? 'hit' : 'fwd=miss; stored';
  return `trackport; ${how}; ttl=${Math.max(ttl, 0)}`;
}
