/** Waits after failures, and a breaker that goes by them. */
import { type Clock, SECOND } from '../clock.ts';
import { isTrackportError } from '../errors.ts';

/** The waits after the first, second, … failure in a row, in milliseconds. */
export type BackoffSchedule = readonly number[];

/** Gives a number of [0, 1). */
export type Random = () => number;

/** Each wait is this much shorter or longer by chance, so that failures do not march in step. */
const JITTER_SHARE = 0.2;

/** Waits that double from `firstMs` up to `maxMs`, both above 0: the last one is `maxMs`. */
export function doublingSchedule(firstMs: number, maxMs: number): BackoffSchedule {
  const waits: number[] = [];
  for (let waitMs = firstMs; waitMs < maxMs; waitMs *= 2) waits.push(waitMs);
  return [...waits, maxMs];
}

/**
 * The wait after the `failures`-th failure in a row (from 1), for work that is tried for as long as
 * it takes: the schedule's last wait counts for all later ones too. 0 when it has none.
 */
export function waitMsAfter(schedule: BackoffSchedule, failures: number): number {
  return schedule[Math.min(failures, schedule.length) - 1] ?? 0;
}

/**
 * The wait after the `failures`-th failed try in a row (from 1), ±20 %, for work that is given up:
 * undefined when the schedule has no more tries.
 */
export function jitteredWaitMsAfter(
  schedule: BackoffSchedule,
  failures: number,
  random: Random,
): number | undefined {
  const waitMs = schedule[failures - 1];
  if (waitMs === undefined) return undefined;
  return Math.round(waitMs * (1 - JITTER_SHARE + 2 * JITTER_SHARE * random()));
}

/** The longest wait that `jitteredWaitMsAfter` gives; 0 for a schedule without tries. */
export function longestJitteredWaitMs(schedule: BackoffSchedule): number {
  return Math.ceil(Math.max(0, ...schedule) * (1 + JITTER_SHARE));
}

/** Milliseconds until a failure says that a new try makes sense; 0 when it does not say. */
export function retryAfterMsOf(error: unknown): number {
  return isTrackportError(error) ? (error.retryAfterSeconds ?? 0) * SECOND : 0;
}

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
