import { SECOND, sleepUntilAborted, type Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';

const FIRST_WAIT_MS = SECOND;
const LONGEST_WAIT_MS = 30 * SECOND;
const LONGEST_NAMED_MS = 60 * SECOND;

export type CatchUpDeps = {
  /** A run that began after the call. `DirectoryFiller` has it. */
  catchUp(): Promise<{ complete: boolean }>;
  clock: Clock;
  log: Log;
  /** Called when a catch-up fails: the tracker may have locked us out. Never throws. */
  onFailure(): Promise<void>;
};

/** How far the directory can be believed. */
export type Coverage = {
  /** It holds everything that was on the tracker at this instant (ms). */
  until: number;
  /** Then every missing row means a missing issue. */
  complete: boolean;
};

/** Keeps the directory as current as the events that wait need it. */
export type CatchUpDesk = {
  /**
   * Asks for what was on the tracker at `instant` and answers what is known after at most `waitMs`
   * milliseconds; a catch-up that takes longer goes on. Never throws.
   */
  cover(instant: number, waitMs: number): Promise<Coverage>;
  /** When it makes sense to ask again; in the past while the tracker answers. */
  retryAt(): number;
};

const nothing: Coverage = { until: -Infinity, complete: false };

export function createCatchUpDesk(deps: CatchUpDeps): CatchUpDesk {
  const { clock, log } = deps;
  let coverage = nothing;
  let flight: { calledAt: number; landed: Promise<void> } | undefined;
  let failures = 0;
  let retryAt = -Infinity;

  const fly = async (calledAt: number): Promise<void> => {
    try {
      const { complete } = await deps.catchUp();
      if (calledAt >= coverage.until) coverage = { until: calledAt, complete };
      failures = 0;
    } catch (error) {
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
      failures += 1;
      retryAt = clock.now() + Math.max(wait, namedWait(error));
      log.warn(errorFields(error), 'the lead directory could not be caught up');
      await deps.onFailure();
    }
  };

  const launch = (): Promise<void> => {
    const calledAt = clock.now();
    const landed = fly(calledAt).finally(() => {
      if (flight?.landed === landed) flight = undefined;
    });
    flight = { calledAt, landed };
    return landed;
  };

  return {
    cover: async (instant, waitMs) => {
      // A clock that was set back says nothing about what came before what.
      if (clock.now() < coverage.until) coverage = nothing;
      if (retryAt - clock.now() > LONGEST_NAMED_MS) retryAt = -Infinity;
      const isCovered = coverage.complete && coverage.until >= instant;
      if (isCovered || clock.now() < retryAt) return coverage;
      const landed = flight && flight.calledAt >= instant ? flight.landed : launch();
      const waited = new AbortController();
      await Promise.race([landed, sleepUntilAborted(clock, waitMs, waited.signal)]);
      waited.abort();
      return coverage;
    },
    retryAt: () => retryAt,
  };
}

function namedWait(error: unknown): number {
  const seconds = isTrackportError(error) ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds * SECOND, LONGEST_NAMED_MS);
}
