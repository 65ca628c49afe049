/**
 * The time as the tracker has it. When a lead was created is told by its clock, when somebody asked to
 * delete it by ours: a machine whose clock is wrong would take one for older or younger than the other.
 */
import { type Clock, MINUTE, SECOND, type TrackerTime } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

/** A response of the tracker, as far as clocks are concerned. */
type DatedResponse = {
  /** The tracker's clock when it responded, in ms since the Unix epoch; whole seconds. */
  dateMs?: number;
  /** From the request to the end of the response. */
  durationMs: number;
};

export type TrackerClock = {
  /**
   * Ours, and that of the tracker where the two are further apart than they can be measured. It goes back only when
   * a response tells that ours is ahead.
   */
  clock: TrackerTime;
  /** The latest time that the tracker's clock may show: a minute after ours where nothing is known of it. */
  latestNow(): number;
  /** The time by the one of the two clocks that is behind; undefined where nothing is known of the tracker's. */
  earliestNow(): number | undefined;
  /** Lead of the tracker's clock over ours, in ms; negative: it is behind. Undefined: not known. */
  skewMs(): number | undefined;
  /** Takes note of a response that has just ended. */
  note(response: DatedResponse): void;
};

/** The one in the middle of so many counts: a single response may have been made long ago. */
const READINGS = 5;
/** A response that took longer tells too little. */
const DURATION_MAX_MS = 5 * SECOND;
/** Difference that whole seconds and the way explain, or the error of a clock kept by NTP. */
const EXPLAINED_MS = 10 * SECOND;
/** Two clocks that are further apart are worth a line in the log. */
const WORTH_A_LINE_MS = MINUTE;

export function createTrackerClock(clock: Clock, log: Pick<Log, 'info' | 'warn'>): TrackerClock {
  const report = createReport(log);
  const steadyNow = createSteadyNow(clock, () => take([]));
  let readings: readonly number[] = [];
  /** Lead of the tracker's clock over the steady one. */
  let skew: number | undefined;
  /** Added to the steady clock. It stays while the readings explain it: time does not go to and fro. */
  let correctionMs = 0;

  const take = (all: readonly number[]): void => {
    readings = all;
    skew = medianOf(all);
    const ms = skew ?? 0;
    const isExplained = skew !== undefined && Math.abs(ms - correctionMs) <= EXPLAINED_MS;
    if (!isExplained) correctionMs = Math.abs(ms) > EXPLAINED_MS ? ms : 0;
  };
  const skewMs = (): number | undefined => {
    const behindMs = steadyNow() - clock.now();
    return skew === undefined ? undefined : skew + behindMs;
  };
  return {
    clock: { ...clock, isTrackers: true, now: () => steadyNow() + correctionMs },
    // Half a second is what whole seconds leave open, so that a second counts as a whole.
    latestNow: () => steadyNow() + (skew === undefined ? MINUTE : skew + SECOND / 2 - 1),
    earliestNow: () =>
      skewMs() === undefined ? undefined : Math.min(clock.now(), steadyNow() + correctionMs),
    skewMs,
    note: ({ dateMs, durationMs }) => {
      if (dateMs === undefined || durationMs > DURATION_MAX_MS) return;
      const aheadMs = dateMs + SECOND / 2 - (steadyNow() - durationMs / 2);
      take([...readings, Math.round(aheadMs)].slice(-READINGS));
      report(skewMs() ?? 0);
    },
  };
}

/**
 * Our clock, but that it never goes back: who sets it back moves nothing. Once it was set ahead, or the machine
 * slept, what was read of it before says nothing of how it goes now: `onAhead` is called.
 */
function createSteadyNow(clock: Pick<Clock, 'now' | 'monotonicMs'>, onAhead: () => void) {
  let settingMs = clock.now() - clock.monotonicMs();
  return (): number => {
    const monotonicMs = clock.monotonicMs();
    const aheadMs = clock.now() - monotonicMs - settingMs;
    settingMs += Math.max(0, aheadMs);
    if (aheadMs > EXPLAINED_MS) onAhead();
    return Math.round(settingMs + monotonicMs);
  };
}

/** One line when the clocks are apart, and one when they are not any more. */
function createReport(log: Pick<Log, 'info' | 'warn'>): (skewMs: number) => void {
  let isApart = false;
  return (skewMs) => {
    const apartMs = Math.abs(skewMs);
    const fields = { clockSkewSeconds: Math.round(skewMs / SECOND) };
    if (!isApart && apartMs > WORTH_A_LINE_MS) {
      isApart = true;
      log.warn(fields, "this machine's clock is not that of the tracker: one of them is wrong");
    } else if (isApart && apartMs < WORTH_A_LINE_MS / 2) {
      isApart = false;
      log.info(fields, "this machine's clock is that of the tracker again");
    }
  };
}

/** The lower one of two in the middle; undefined of none. */
function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
