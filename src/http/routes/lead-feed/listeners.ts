import type { FastifyRequest } from 'fastify';
import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { visibilityOf } from '../../auth/lead-access.ts';
import { hangUpOf } from '../../requests/hang-up.ts';

/** A request that waits for changes. */
type Listener = {
  /** Aborted when the caller hung up, its key is not good any more, or the service stops. */
  signal: AbortSignal;
  /** To be called when it waits no more. */
  end(): void;
};

export type Listeners = {
  /** @throws {quota-exceeded} too many of the same consumer wait already */
  add(request: FastifyRequest, stopping: AbortSignal): Listener;
  close(): void;
};

/** Of one consumer, in one process. */
const LISTENERS_MAX = 100;

/** Who waits for changes. `isGranted` is asked of each once a second. */
export function createListeners(
  isGranted: (request: FastifyRequest) => Promise<boolean>,
): Listeners {
  const waiting = new Map<FastifyRequest, AbortController>();
  const look = async (request: FastifyRequest, revoked: AbortController): Promise<void> => {
    if (!(await isGranted(request))) revoked.abort();
  };
  const looking = setInterval(() => {
    for (const [request, revoked] of waiting) void look(request, revoked);
  }, SECOND).unref();
  return {
    add: (request, stopping) => {
      const { consumerId } = visibilityOf(request);
      const own = [...waiting.keys()].filter((one) => visibilityOf(one).consumerId === consumerId);
      if (own.length >= LISTENERS_MAX) refuseListener();
      const revoked = new AbortController();
      waiting.set(request, revoked);
      return {
        signal: AbortSignal.any([hangUpOf(request), revoked.signal, stopping]),
        end: () => void waiting.delete(request),
      };
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
