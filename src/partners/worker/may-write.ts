import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { PauseCode } from './act/issue-editor.ts';

/** Keeps writes to the tracker apart. For one writer at a time. */
export type Pacer = {
  /** Resolves when the next write may be made. @throws the signal's reason when it is aborted */
  turn(signal: AbortSignal): Promise<void>;
  /**
   * To be called when a write begins, and when the work is taken over from a process that may have written
   * just now. A turn that was not used is still there.
   */
  noteWrite(): void;
};

/** At least `intervalMs` between the starts of two writes. */
export function createPacer(clock: Clock, intervalMs: number): Pacer {
  let writtenAt = -Infinity; // of the monotonic clock
  return {
    turn: async (signal) => {
      signal.throwIfAborted();
      const waitMs = writtenAt + intervalMs - clock.monotonicMs();
      await clock.sleep(waitMs, { signal });
    },
    noteWrite: () => {
      writtenAt = clock.monotonicMs();
    },
  };
}

/** One issue in a row is its own matter; so many are a reason to ask whether any may be written. */
const DOUBTED_IN_A_ROW = 2;
/** So many issues in a row that may not be written are no coincidence. */
const ISSUES_IN_A_ROW_MAX = 3;
/** Issues that are remembered; far more than are ever refused while others are written. */
const REMEMBERED_MAX = 1000;

/**
 * What a 403 to a write means of which the tracker tells no reason:
 *
 * - `own`: another issue was written since this one was refused first, or no other was refused since
 *   the last that was written, so that it is this issue's.
 * - `unclear`: a second issue in a row was refused. The next one will tell.
 * - `general`: several issues in a row were refused: it may not write at all.
 */
type RefusalMeaning = 'own' | 'unclear' | 'general';

/** Tells an issue that may not be written from a repository in which none may. */
export type WriteRefusals = {
  noteSuccess(number: number): void;
  noteRefusal(number: number): RefusalMeaning;
  /** True while what was refused since the last write is one issue's own matter. */
  isWell(): boolean;
};

export function createWriteRefusals(): WriteRefusals {
  /** By issue: whether another one was written since it was refused first. */
  const refused = new Map<number, { isOwn: boolean }>();
  let inARow = new Set<number>();
  return {
    noteSuccess: (number) => {
      refused.delete(number);
      for (const refusal of refused.values()) refusal.isOwn = true;
      inARow = new Set();
    },
    noteRefusal: (number) => {
      if (refused.size >= REMEMBERED_MAX) refused.clear();
      const refusal = refused.get(number) ?? { isOwn: false };
      refused.set(number, refusal);
      if (refusal.isOwn) return 'own';
      inARow.add(number);
      if (inARow.size < DOUBTED_IN_A_ROW) return 'own';
      return inARow.size < ISSUES_IN_A_ROW_MAX ? 'unclear' : 'general';
    },
    isWell: () => inARow.size < DOUBTED_IN_A_ROW,
  };
}

/**
 * What keeps the worker from changing issues, for all events alike. `isCertain`: false while it may
 * be one issue's own; then the others are tried as ever. `since`: ms since the Unix epoch; `probeAt`: ms of the
 * monotonic clock.
 */
export type Pause = { code: PauseCode; since: number; probeAt: number; isCertain: boolean };

/** Whether the tracker lets the worker change issues, as far as it is known. */
export type TrackerPause = {
  current(): Readonly<Pause> | undefined;
  /** The tracker refuses, or still does: the next probe is due after the time between two. */
  begin(code: PauseCode, facts?: { isCertain: boolean }): void;
  /** A probe told nothing: the next one is due after the time between two. */
  probeLater(): void;
  end(): void;
  /** A rate limit is in force until this instant (ms since the Unix epoch). */
  limitUntil(instant: number): void;
  /** How long the rate limit is still in force, in ms; 0 or less: it is not. */
  limitedMs(): number;
};

export type TrackerPauseDeps = {
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  log: Log;
  /** How often a pause is questioned, in ms. */
  probeEveryMs: number;
};

/** @see TrackerPause */
export function createTrackerPause({ clock, log, probeEveryMs }: TrackerPauseDeps): TrackerPause {
  let pause: Pause | undefined;
  let limitedUntilMs = -Infinity;
  const nextProbeAt = (): number => clock.monotonicMs() + probeEveryMs;
  return {
    current: () => pause,
    begin: (code, { isCertain } = { isCertain: true }) => {
      if (!pause) log.error({ reason: code }, 'the tracker refuses: deletions wait');
      const since = pause?.since ?? clock.now();
      pause = { code, since, probeAt: nextProbeAt(), isCertain };
    },
    probeLater: () => {
      if (pause) pause.probeAt = nextProbeAt();
    },
    end: () => {
      pause = undefined;
      log.info({}, 'the tracker allows it again: deletions go on');
    },
    limitUntil: (instant) => {
      limitedUntilMs = clock.monotonicMs() + instant - clock.now();
    },
    limitedMs: () => limitedUntilMs - clock.monotonicMs(),
  };
}
