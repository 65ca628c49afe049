import type { FastifyRequest } from 'fastify';

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
