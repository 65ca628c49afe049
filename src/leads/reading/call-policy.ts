import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import {
  createCircuitBreaker,
  doublingSchedule,
  retryAfterMsOf,
} from '#shared/resilience/backoff.ts';
import type { TrackerQuota } from '../lead-tracker.ts';

/** Spends calls to the tracker on reads: decides which may be made now, and how long responses stay fresh. */
export type CallPolicy = {
  /**
   * Makes a call, unless the circuit breaker is open or reads have used up their share of the quota.
   * A `tracker-unavailable` opens the breaker; other failures concern one call only.
   * @throws {tracker-unavailable} without calling, with the seconds to wait; or what the call threw
   */
  run<R>(call: () => Promise<R>): Promise<R>;
  /** False while `run` would refuse. */
  isAllowed(): boolean;
  /** The credential may be another one: closes the breaker, which calls of the former one that are under way leave alone. */
  askAgain(): void;
  /** `freshForMs`, longer while the quota runs low. */
  stretch(freshForMs: number): number;
};

/** Waits of the breaker after failures in a row. */
export const TRACKER_BACKOFF = doublingSchedule(SECOND, 30 * SECOND);
/** Below this share of the quota responses are fresh for longer, below the next only the worker calls. */
const QUOTA_LOW = 0.2;
const QUOTA_RESERVED = 0.1;
const STRETCH_FACTOR = 4;

/** One circuit breaker for the whole tracker: when it is down, it is down for every key. */
export function createCallPolicy({
  clock,
  quota,
}: {
  clock: Clock;
  quota: () => TrackerQuota | undefined;
}): CallPolicy {
  const createBreaker = () => createCircuitBreaker({ clock, schedule: TRACKER_BACKOFF });
  let breaker = createBreaker();

  const quotaLeft = (): number => {
    const known = quota();
    if (!known || known.limit <= 0 || clock.now() >= known.resetAt) return 1;
    return known.remaining / known.limit;
  };
  const reservedMs = (): number =>
    quotaLeft() < QUOTA_RESERVED ? (quota()?.resetAt ?? 0) - clock.now() : 0;
  const waitMs = (): number => Math.max(reservedMs(), breaker.waitMs());

  return {
    run: async (call) => {
      if (waitMs() > 0) throw unavailable(waitMs());
      const current = breaker;
      try {
        const result = await call();
        current.noteSuccess();
        return result;
      } catch (error) {
        if (isTrackportError(error, 'tracker-unavailable'))
          current.noteFailure(retryAfterMsOf(error));
        throw error;
      }
    },
    isAllowed: () => waitMs() <= 0,
    askAgain: () => {
      breaker = createBreaker();
    },
    stretch: (freshForMs) => (quotaLeft() < QUOTA_LOW ? freshForMs * STRETCH_FACTOR : freshForMs),
  };
}

function unavailable(waitMs: number): TrackportError {
  return new TrackportError('tracker-unavailable', {
    detail: 'The issue tracker cannot be asked right now.',
    retryAfterSeconds: Math.ceil(waitMs / SECOND),
  });
}
