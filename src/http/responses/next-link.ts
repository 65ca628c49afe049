import type { FastifyRequest } from 'fastify';
import { toPathAndQuery } from '#partners/intake/signature.ts';
import { URI_BYTES_MAX } from '../limits.ts';

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
  const kept = [...query].filter(([name]) => name === 'limit' || name === 'cursor');
  return `${path}?${new URLSearchParams(kept).toString()}`;
}
