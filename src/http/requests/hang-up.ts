import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from '../http-app.ts';

/** Has every request know its response: see `hangUpOf`. */
export function watchHangUps(app: HttpApp): void {
  app.decorateRequest('responseOut', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    request.responseOut = reply.raw;
    done();
  });
}

/**
 * Aborted when the caller hangs up before the response. `signal` of Fastify is that of the request, which
 * is over once its body was read.
 */
export function hangUpOf(
  { responseOut }: FastifyRequest,
  hangUp = new AbortController(),
): AbortSignal {
  const look = (): void => {
    if (responseOut?.writableFinished === false) hangUp.abort();
  };
  if (responseOut?.closed === true) look();
  else responseOut?.once('close', look);
  return hangUp.signal;
}

declare module 'fastify' {
  interface FastifyRequest {
    responseOut: ServerResponse | undefined;
  }
}
