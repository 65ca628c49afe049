import { SECOND } from '#shared/clock.ts';

/** What an entry tells about its age; all instants are in ms of the monotonic clock. */
export type Dated = { confirmedAt: number; isLagging: boolean; isInvalidated: boolean };

export type FreshnessRule = {
  now: number;
  freshForMs: number;
};

/** How long a response that lags behind a known event stays fresh. */
const LAGGING_FRESH_MS = SECOND;

/**
 * What to do with an entry. `fresh`: serve it. `changed`: an event contradicts it, or it lags behind
 * one. `expired`: too old. `missing`: there is none.
 */
export type Use = 'fresh' | 'changed' | 'expired' | 'missing';

/** Decides by the entry's age and what events said of it. */
export function decideUse(cached: Dated | undefined, { now, freshForMs }: FreshnessRule): Use {
  if (!cached) return 'missing';
  if (cached.isInvalidated) return 'changed';
  const ageMs = now - cached.confirmedAt;
  if (cached.isLagging && ageMs >= LAGGING_FRESH_MS) return 'changed';
  return ageMs < freshForMs ? 'fresh' : 'expired';
}
