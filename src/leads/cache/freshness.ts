import { SECOND } from '#shared/clock.ts';

/** What an entry tells about its age; all instants are in ms of the monotonic clock. */
export type Dated = { confirmedAt: number; lagging: boolean; invalidated: boolean };

export type FreshnessRule = {
  now: number;
  /** ms */
  freshFor: number;
};

/** How long an answer that lags behind a known event is kept, ms. */
const LAGGING_FRESH_MS = SECOND;

/**
 * What to do with an entry. `fresh`: serve it. `changed`: an event says it is wrong, or lags behind one. `expired`: too old.
 * `missing`: nothing held.
 */
export type Use = 'fresh' | 'changed' | 'expired' | 'missing';

/** Decides by the entry's age and what events said of it. */
export function decideUse(held: Dated | undefined, { now, freshFor }: FreshnessRule): Use {
  if (!held) return 'missing';
  if (held.invalidated) return 'changed';
  const ageMs = now - held.confirmedAt;
  if (held.lagging && ageMs >= LAGGING_FRESH_MS) return 'changed';
  return ageMs < freshFor ? 'fresh' : 'expired';
}
