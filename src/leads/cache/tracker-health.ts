import { SECOND, type Clock } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { doublingSchedule, retryAfterMsOf, waitMsAfter } from '#shared/resilience/backoff.ts';

import type { TrackerQuota } from '../lead-tracker.ts';

/** Whether reads may call the tracker now, and how long answers stay fresh. */
export type TrackerHealth = {
  /**
   * Makes a call, unless the tracker is backed off or reads have used up their share of the quota.
   * A `tracker-unavailable` starts or prolongs the back-off; other failures are one call's trouble.
   * @throws {tracker-unavailable} without calling, with the seconds to wait; or what the call threw
   */
  run<R>(call: () => Promise<R>): Promise<R>;
  /** False while a call would be refused without being made. */
  isOpen(): boolean;
  /** `freshFor` (ms), longer while the quota runs low. */
  stretch(freshFor: number): number;
};

const BACKOFF = doublingSchedule(SECOND, 30 * SECOND);
/** Below this share of the quota answers are kept longer, below the next only the worker calls. */
const QUOTA_LOW = 0.2;
const QUOTA_RESERVED = 0.1;
const STRETCH_FACTOR = 4;

/** One back-off for the whole tracker: when it is down, it is down for every key. */
export function createTrackerHealth({
  clock,
  quota,
}: {
  clock: Clock;
  quota: () => TrackerQuota | undefined;
}): TrackerHealth {
  let failures = 0;
  let closedUntil = 0;

  const quotaLeft = (): number => {
    const known = quota();
    if (!known || known.limit <= 0 || clock.now() >= known.resetAt) return 1;
    return known.remaining / known.limit;
  };

  const waitMs = (): number => {
    const reservedUntil = quotaLeft() < QUOTA_RESERVED ? (quota()?.resetAt ?? 0) : 0;
    return Math.max(reservedUntil - clock.now(), closedUntil - clock.monotonicMs());
  };

  const backOff = (error: unknown): void => {
    if (!isTrackportError(error, 'tracker-unavailable') || clock.monotonicMs() < closedUntil)
      return;
    failures += 1;
    closedUntil =
      clock.monotonicMs() + Math.max(waitMsAfter(BACKOFF, failures), retryAfterMsOf(error));
  };

  return {
    run: async (call) => {
      if (waitMs() > 0) throw unavailable(waitMs());
      try {
        const result = await call();
        failures = 0;
        return result;
      } catch (error) {
        backOff(error);
        throw error;
      }
    },
    isOpen: () => waitMs() <= 0,
    stretch: (freshFor) => (quotaLeft() < QUOTA_LOW ? freshFor * STRETCH_FACTOR : freshFor),
  };
}

function unavailable(waitMs: number): TrackportError {
  return new TrackportError('tracker-unavailable', {
    detail: 'The issue tracker cannot be asked right now.',
    retryAfterSeconds: Math.ceil(waitMs / SECOND),
  });
}
