import type { FastifyRequest } from 'fastify';

/**
 * `Link` to the next page (RFC 8288): the request's own path and query with the new cursor, so that
 * it meets the filters that it is bound to, at the address that the outside world uses.
 */
export function nextLink(request: FastifyRequest, nextCursor: string, publicUrl: string): string {
  const [path = ''] = request.url.split('?', 1);
  const query = new URLSearchParams(request.url.slice(path.length + 1)); // it may hold `?` itself
  query.set('cursor', nextCursor);
  return `<${publicUrl}${path}?${query.toString()}>; rel="next"`;
}
