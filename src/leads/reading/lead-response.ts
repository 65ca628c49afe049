import type { Clock } from '#shared/clock.ts';

import type { CacheResult } from '../cache/confirmed-cache.ts';

/** How a response came about, for `Age` and `Cache-Status` (RFC 9211). */
export type CacheFacts = {
  /** `hit`: no call was needed. `miss`: at least one call. `stale`: the tracker failed, last good value. */
  outcome: 'hit' | 'miss' | 'stale';
  /** Milliseconds since the oldest part was last confirmed by the tracker. */
  ageMs: number;
  /** Milliseconds until it stops being fresh; ≤ 0 when stale. */
  ttlMs: number;
};

/** `value` is the same object as long as nothing in it changed (`shared/caching/memoize.ts`). */
export type LeadResponse<T> = { value: T; cache: CacheFacts };

export type ResponseDeps = {
  clock: Pick<Clock, 'monotonicMs'>;
  cache: { readonly freshForMs: number };
};

/** A value with the facts of its parts: as old as the oldest, as good as the worst. */
export function toResponse<T>(
  { clock, cache }: ResponseDeps,
  value: T,
  parts: readonly CacheResult<unknown>[],
): LeadResponse<T> {
  let confirmedAt = Infinity;
  let outcome: CacheFacts['outcome'] = 'hit';
  for (const part of parts) {
    confirmedAt = Math.min(confirmedAt, part.entry.confirmedAt);
    if (part.outcome === 'stale' || (part.outcome === 'miss' && outcome === 'hit'))
      outcome = part.outcome;
  }
  const ageMs = Math.max(0, clock.monotonicMs() - confirmedAt);
  return { value, cache: { outcome, ageMs, ttlMs: cache.freshForMs - ageMs } };
}
