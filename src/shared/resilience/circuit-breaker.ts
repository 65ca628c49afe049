import type { Clock } from '../clock.ts';
import { type BackoffSchedule, waitMsAfter } from './backoff.ts';

/**
 * Spares something that fails the calls that would fail as well. An open breaker whose wait is over is half-open: calls
 * pass, and what the first of them comes to closes it, or opens it for longer.
 */
export type CircuitBreaker = {
  /** Milliseconds until calls pass again: 0 unless the breaker is open. */
  waitMs(): number;
  /** Closes a half-open breaker. An open one stays open for its wait, and is closed after it. */
  noteSuccess(): void;
  /**
   * Opens the breaker, for the schedule's wait or for `leastMs` when that is longer. Failures while it is
   * open change nothing: they are of calls that were under way.
   */
  noteFailure(leastMs?: number): void;
};

/** A closed breaker. `schedule`: its waits after the first, second, … failure without a success between. */
export function createCircuitBreaker({
  clock,
  schedule,
}: {
  clock: Clock;
  schedule: BackoffSchedule;
}): CircuitBreaker {
  let failures = 0;
  let openUntil = -Infinity;
  const waitMs = (): number => Math.max(0, openUntil - clock.monotonicMs());
  return {
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
