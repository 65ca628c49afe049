import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pagination } from '#shared/pagination/page.ts';
import { toPathAndQuery } from '#shared/address.ts';
import { URI_BYTES_MAX } from '../limits.ts';

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
