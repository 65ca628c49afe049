import type { Clock } from '../clock.ts';
import { type BackoffSchedule, waitMsAfter } from './backoff.ts';

/**
 * - `closed`: calls pass. The first failure opens the breaker.
 * - `open`: calls are to be refused without being made, until the wait is over.
 * - `half-open`: the wait is over, so calls pass again. The first failure opens the breaker for the
 *   schedule's next wait; the first success closes it.
 */
type CircuitState = 'closed' | 'open' | 'half-open';

/** Spares something that fails the calls that would fail as well. */
export type CircuitBreaker = {
  state(): CircuitState;
  /** Milliseconds until calls pass again; 0 unless `open`. */
  waitMs(): number;
  /** Closes a half-open breaker. An open one stays open for its wait, and is closed after it. */
  noteSuccess(): void;
  /**
   * Opens the breaker, for the schedule's wait or for `leastMs` when that is longer. Failures while it is
   * open change nothing: they are of calls that were under way.
   */
  noteFailure(leastMs?: number): void;
};

export type CircuitBreakerDeps = {
  clock: Pick<Clock, 'monotonicMs'>;
  /** How long the breaker stays open after the first, second, … failure without a success between. */
  schedule: BackoffSchedule;
};

/** A closed breaker. */
export function createCircuitBreaker({ clock, schedule }: CircuitBreakerDeps): CircuitBreaker {
  let failures = 0;
  let openUntil = -Infinity;
  const waitMs = (): number => Math.max(0, openUntil - clock.monotonicMs());
  return {
    state: () => {
      if (waitMs() > 0) return 'open';
      return failures > 0 ? 'half-open' : 'closed';
    },
    waitMs,
    noteSuccess: () => {
      failures = 0;
    },
    noteFailure: (leastMs = 0) => {
      if (waitMs() > 0) return;
      failures += 1;
      openUntil = clock.monotonicMs() + Math.max(waitMsAfter(schedule, failures), leastMs);
    },
  };
}
