/** Each wait is this much shorter or longer by chance, so that failures do not march in step. */
const SPREAD = 0.2;

/** Gives a number of [0, 1). */
export type Random = () => number;

/**
 * Milliseconds to wait after the `failures`-th failed try in a row (from 1), ±20 %. Undefined when
 * the schedule has no more tries.
 */
export function waitAfterFailure(
  scheduleMs: readonly number[],
  failures: number,
  random: Random,
): number | undefined {
  const wait = scheduleMs[failures - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 - SPREAD + 2 * SPREAD * random()));
}

/** The longest wait that `waitAfterFailure` gives, in ms; 0 for a schedule without tries. */
export function longestWait(scheduleMs: readonly number[]): number {
  return Math.ceil(Math.max(0, ...scheduleMs) * (1 + SPREAD));
}
