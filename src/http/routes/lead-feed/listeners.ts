import type { FastifyRequest } from 'fastify';
import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { visibilityOf } from '../../auth/lead-access.ts';
import { hangUpOf } from '../../requests/hang-up.ts';

export type Listeners = {
  /**
   * Does what waits for changes. Its signal is aborted when the caller hung up, its key is not good any more, or the
   * service stops. @throws {quota-exceeded} too many of the same consumer wait already
   */
  wait<T>(request: FastifyRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  close(): void;
};

/** Of one consumer, in one process. */
const LISTENERS_MAX = 100;

/** Who waits for changes. Once a second `lost` tells whose grant is gone. */
export function createListeners(
  stopping: AbortSignal,
  lost: (requests: Iterable<FastifyRequest>) => Promise<FastifyRequest[]>,
): Listeners {
  const waiting = new Map<FastifyRequest, AbortController>();
  const look = async (): Promise<void> => {
    for (const request of await lost(waiting.keys())) waiting.get(request)?.abort();
  };
  const looking = setInterval(() => void look(), SECOND).unref();
  stopping.addEventListener('abort', () => {
    for (const over of waiting.values()) over.abort();
  });
  return {
    wait: async (request, work) => {
      const { consumerId } = visibilityOf(request);
      let own = 0;
      for (const one of waiting.keys()) if (visibilityOf(one).consumerId === consumerId) own += 1;
      if (own >= LISTENERS_MAX) refuseListener();
      const over = new AbortController();
      if (stopping.aborted) over.abort();
      waiting.set(request, over);
      return work(hangUpOf(request, over)).finally(() => waiting.delete(request));
    },
    close: () => clearInterval(looking),
  };
}

function refuseListener(): never {
  throw new TrackportError('quota-exceeded', {
    detail: `${LISTENERS_MAX} requests of this consumer wait for changes already. End some of them first.`,
    retryAfterSeconds: 30,
  });
}
