import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import {
  doublingSchedule,
  retryAfterMsOf,
  createCircuitBreaker,
} from '#shared/resilience/backoff.ts';

const RETRIES = doublingSchedule(SECOND, 30 * SECOND);
const LONGEST_NAMED_MS = 60 * SECOND;
/** Interval of looks, at the store alone, while we are locked out. */
const LOCKED_OUT_LOOK_MS = 5 * SECOND;

/** Reach of the directory. */
export type Coverage = {
  /** It holds everything that was on the tracker at this instant (ms). */
  until: number;
  /** Then every missing row means a missing issue. */
  isComplete: boolean;
  /** Start of the changes that were read anew, when that was wanted (ms); Infinity: as far back as usual. */
  since: number;
};

/** Keeps the directory as current as the events that wait need it. */
export type DirectoryCoverage = {
  /**
   * Wants what was on the tracker at `instant` and returns what is known after at most `waitMs`
   * milliseconds; a catch-up that takes longer goes on. What has changed since `since` is read
   * again, for an event that found nobody then: a replica may show it late. Never throws.
   */
  cover(instant: number, waitMs: number, since?: number): Promise<Coverage>;
  /** Time until it makes sense to try again, in whole ms; 0 while the tracker responds. */
  retryMs(): number;
  /** The credential may be another one: nothing is waited for any more, a catch-up with the former one neither. */
  askAgain(): void;
  /** False: a lead is not asked for by its number either, after a look-up that failed, or while we are locked out. */
  mayLookUp(): boolean;
  /** A look-up by number failed: the next one is due when a catch-up would be. */
  noteFailedLookUp(): void;
};

const nothing: Coverage = { until: -Infinity, isComplete: false, since: Infinity };

type CoverageOptions = {
  /** A run that began after the call, and reached back to `since` (ms). `DirectoryFiller` has it. */
  catchUp: (since: number) => Promise<{ isComplete: boolean }>;
  /** The tracker refuses us: nothing is asked of it until a probe has told that it takes us again. */
  isLockedOut: () => boolean;
  /** Called when a catch-up fails: the tracker may have locked us out. Never throws. */
  onFailure: () => Promise<void>;
  clock: Clock;
  log: Log;
};

export function createDirectoryCoverage({
  catchUp,
  isLockedOut,
  onFailure,
  clock,
  log,
}: CoverageOptions): DirectoryCoverage {
  let coverage = nothing;
  let flight: { calledAt: number; since: number; landed: Promise<void> } | undefined;
  const createBreaker = () => createCircuitBreaker({ clock, schedule: RETRIES });
  let breaker = createBreaker();
  let nextLookUpMs = -Infinity; // of the monotonic clock

  const retryMs = (): number => (isLockedOut() ? LOCKED_OUT_LOOK_MS : Math.ceil(breaker.waitMs()));

  const fly = async (calledAt: number, since: number): Promise<void> => {
    const current = breaker;
    try {
      const { isComplete } = await catchUp(since);
      if (calledAt >= coverage.until) coverage = { until: calledAt, isComplete, since };
      current.noteSuccess();
    } catch (error) {
      current.noteFailure(Math.min(retryAfterMsOf(error), LONGEST_NAMED_MS));
      log.warn(errorFields(error), 'the lead directory could not be caught up');
      await onFailure();
    }
  };

  const launch = (since: number): Promise<void> => {
    const calledAt = clock.now();
    const landed = fly(calledAt, since).finally(() => {
      if (flight?.landed === landed) flight = undefined;
    });
    flight = { calledAt, since, landed };
    return landed;
  };

  return {
    cover: async (instant, waitMs, since = Infinity) => {
      // A clock that was set back says nothing about what came before what.
      if (clock.now() < coverage.until) coverage = nothing;
      const isCovered = coverage.isComplete && coverage.until >= instant && coverage.since <= since;
      if (isCovered || retryMs() > 0) return coverage;
      const isUnderWay = flight && flight.calledAt >= instant && flight.since <= since;
      const landed = isUnderWay && flight ? flight.landed : launch(since);
      const waited = new AbortController();
      await Promise.race([landed, sleepUntilAborted(clock, waitMs, waited.signal)]);
      waited.abort();
      return coverage;
    },
    retryMs,
    askAgain: () => {
      breaker = createBreaker();
      flight = undefined;
      nextLookUpMs = -Infinity;
    },
    mayLookUp: () => !isLockedOut() && clock.monotonicMs() >= nextLookUpMs,
    noteFailedLookUp: () => {
      nextLookUpMs = clock.monotonicMs() + retryMs();
    },
  };
}
