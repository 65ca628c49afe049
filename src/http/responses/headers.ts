import type { CacheStatus } from '#leads/reading/lead-reader.ts';
import type { RateLimit } from '#shared/errors.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pagination } from '#shared/pagination/page.ts';
import { toPathAndQuery } from '#shared/text/address.ts';
import { URI_BYTES_MAX } from '../limits.ts';

/** Nobody may store the response: what operators and the holders of keys read concerns them alone. */
export const uncached = { 'Cache-Control': 'no-store' } as const;

/** For responses of one caller, which revalidates them at every use. */
export const REVALIDATED = 'private, no-cache';

/** Of every response that we serialize ourselves rather than leave to the framework. */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

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

/** @see draft-ietf-httpapi-ratelimit-headers-10 */
export function rateLimitHeaders({ limitPerMinute, remaining, resetSeconds }: RateLimit) {
  return {
    'ratelimit-policy': `"default";q=${limitPerMinute};w=60`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  };
}

/**
 * Those of helmet, reduced to what matters for an API and computed once: the hot path pays
 * for every header. Pages bring a `Content-Security-Policy` of their own.
 * @see https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return Object.freeze({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...(publicUrl.startsWith('https:') && {
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
    }),
  });
}

/** Headers of a page beside them; `policy` opens what it needs, from this service only. */
export function pageHeaders(policy = ''): Readonly<Record<string, string>> {
  return Object.freeze({
    'content-security-policy': `default-src 'none'; ${policy}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  });
}

/** Adds the `Link` to the next page when there is one. */
export function linkNext(
  request: FastifyRequest,
  reply: FastifyReply,
  { pagination, publicUrl }: { pagination: Pagination; publicUrl: string },
): void {
  const { nextCursor } = pagination;
  if (nextCursor !== undefined) reply.header('link', nextLink(request, nextCursor, publicUrl));
}

/**
 * `Link` to the next page (RFC 8288): the request's own path and query with the new cursor, at the
 * address that the outside world uses. Where that would be too long an address, the filters are left
 * to the cursor, which repeats them.
 */
export function nextLink(
  { url }: Pick<FastifyRequest, 'url'>,
  nextCursor: string,
  publicUrl: string,
): string {
  const target = toPathAndQuery(url);
  const [path = ''] = target.split('?', 1);
  const query = new URLSearchParams(target.slice(path.length + 1)); // it may hold `?` itself
  query.set('cursor', nextCursor);
  const next = `${path}?${query.toString()}`;
  return `<${publicUrl}${next.length > URI_BYTES_MAX ? withoutFilters(path, query) : next}>; rel="next"`;
}

function withoutFilters(path: string, query: URLSearchParams): string {
  const remaining = [...query].filter(([name]) => name === 'limit' || name === 'cursor');
  return `${path}?${new URLSearchParams(remaining).toString()}`;
}
