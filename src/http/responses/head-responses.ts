import type { onSendHookHandler, RouteOptions } from 'fastify';

/**
 * Fastify tells the length of what a HEAD leaves out, and of a 304, which leaves out as much as the GET would
 * send, it knows none: 0 would be wrong. @see RFC 9110 section 8.6
 */
export function tellNoWrongLength(route: RouteOptions): void {
  if (route.method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), dropLength];
}

const dropLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
};
