import type { FastifyRequest } from 'fastify';

/**
 * `Link` to the next page (RFC 8288): the request's own path and query with the new cursor, so that
 * it meets the filters that it is bound to. `base` goes in front of the path.
 */
export function nextLink(request: FastifyRequest, nextCursor: string, base = ''): string {
  const [path = ''] = request.url.split('?', 1);
  const query = new URLSearchParams(request.url.slice(path.length + 1)); // it may hold `?` itself
  query.set('cursor', nextCursor);
  return `<${base}${path}?${query.toString()}>; rel="next"`;
}
