import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { type RateLimit, TrackportError } from '#shared/errors.ts';

const WINDOW_MS = MINUTE;
const WINDOWS_MAX = 10_000;

/** Counts calls per name in windows of one minute, in memory. */
export type Limiter = {
  /** Counts one call, and says what is left after it. */
  take(name: string, limitPerMinute: number): RateLimit & { isExceeded: boolean };
};

/**
 * A name's window starts with its first call. Remembers the 10,000 names that called last; an older
 * one starts afresh.
 */
export function createLimiter(clock: Clock): Limiter {
  const windows = new LRUCache<string, { endsAt: number; used: number }>(
    atMostEntries(WINDOWS_MAX),
  );
  return {
    take: (name, limitPerMinute) => {
      const now = clock.monotonicMs();
      let window = windows.get(name);
      if (!window || window.endsAt <= now) {
        window = { endsAt: now + WINDOW_MS, used: 0 };
        windows.set(name, window);
      }
      const isExceeded = window.used >= limitPerMinute;
      if (!isExceeded) window.used += 1;
      const resetSeconds = Math.ceil((window.endsAt - now) / SECOND);
      return {
        isExceeded,
        limitPerMinute,
        remaining: Math.max(0, limitPerMinute - window.used),
        resetSeconds,
      };
    },
  };
}

/** The 429 for a limit that is used up. */
export function overLimit(limit: RateLimit): TrackportError {
  const { resetSeconds } = limit;
  return new TrackportError('quota-exceeded', {
    detail: `The limit of calls per minute is used up. Try again in ${resetSeconds} s.`,
    retryAfterSeconds: resetSeconds,
    limit,
  });
}
