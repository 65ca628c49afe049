/** Turns to write to the tracker: the time between two, refusals, the pause and what ends it. */
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { IssueEditor, PauseCode } from './act/issue-editor.ts';

/** Keeps writes to the tracker apart. For one writer at a time. */
export type Pacer = {
  /** Resolves when the next write may be made. @throws the signal's reason when it is aborted */
  turn(signal: AbortSignal): Promise<void>;
  /**
   * To be called when a write begins, and when the work is taken over from an instance that may have written
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

/** So many issues in a row that may not be written are no coincidence. */
const ISSUES_IN_A_ROW_MAX = 3;

/** Tells an issue that may not be written from a repository in which none may, where the tracker tells no reason. */
export type WriteRefusals = {
  /** An issue was written. */
  noteSuccess(): void;
  /** True when so many issues were refused since the last one was written that none may be. */
  noteRefusal(number: number): boolean;
};

export function createWriteRefusals(): WriteRefusals {
  const refused = new Set<number>();
  return {
    noteSuccess: () => refused.clear(),
    noteRefusal: (number) => {
      if (refused.size < ISSUES_IN_A_ROW_MAX) refused.add(number);
      return refused.size >= ISSUES_IN_A_ROW_MAX;
    },
  };
}

/**
 * Pause of all changes to issues, since the tracker refuses them. `since`: ms since the Unix epoch; `probeAt`: ms of
 * the monotonic clock.
 */
export type Pause = { code: PauseCode; since: number; probeAt: number };

/** The pause in force, and the limit that the tracker named. */
export type TrackerPause = {
  current(): Readonly<Pause> | undefined;
  /** It does not let us read either: only a probe is to ask it anything. */
  isLockedOut(): boolean;
  /** The tracker refuses, or still does: the next probe is due after the time between two. */
  begin(code: PauseCode): void;
  /** A probe told nothing: the next one is due after the time between two. */
  probeLater(): void;
  /** Something has changed here: a probe is due, whatever one under way comes to, and no limit counts that was named before. */
  probeNow(): void;
  /** Number of calls of `probeNow`: what was asked before the last one says nothing any more. */
  changes(): number;
  end(): void;
  /** A rate limit is in force until this instant (ms since the Unix epoch). */
  limitUntil(instant: number): void;
  /** Rest of the rate limit, in ms; 0 or less when none is in force. */
  limitedMs(): number;
};

export function createTrackerPause({
  clock,
  log,
  probeEveryMs,
}: {
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  log: Log;
  /** Interval of probes, in ms. */
  probeEveryMs: number;
}): TrackerPause {
  let pause: Pause | undefined;
  let limitedUntilMs = -Infinity;
  let changes = 0;
  const nextProbeAt = (): number => clock.monotonicMs() + probeEveryMs;
  return {
    current: () => pause,
    isLockedOut: () => pause !== undefined && pause.code !== 'forbidden',
    begin: (code) => {
      if (!pause) log.error({ reason: code }, 'the tracker refuses: deletions wait');
      const since = pause?.since ?? clock.now();
      pause = { code, since, probeAt: nextProbeAt() };
    },
    probeLater: () => {
      if (pause) pause.probeAt = nextProbeAt();
    },
    probeNow: () => {
      if (pause) pause = { ...pause, probeAt: clock.monotonicMs() };
      limitedUntilMs = -Infinity;
      changes += 1;
    },
    changes: () => changes,
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

/** Something says that the tracker may have locked us out: asks the tracker. */
export async function suspectPause({
  editor,
  pause,
  stopping,
}: {
  editor: Pick<IssueEditor, 'checkRepository'>;
  pause: TrackerPause;
  stopping: AbortSignal;
}): Promise<void> {
  if (stopping.aborted) return;
  const changes = pause.changes();
  const response = await editor.checkRepository();
  if (response.kind === 'paused' && pause.changes() === changes) pause.begin(response.code);
}

/** Asks the tracker whether it still refuses, and notes the answer; true when nothing that it tells speaks against work. */
export async function isWellAgain(
  {
    editor,
    pause,
  }: { editor: Pick<IssueEditor, 'checkRepository' | 'checkWriting'>; pause: TrackerPause },
  current: Readonly<Pause>,
): Promise<boolean> {
  const isForbidden = current.code === 'forbidden';
  const response = await (isForbidden ? editor.checkWriting() : editor.checkRepository());
  if (pause.current() !== current) return false;
  if (response.kind === 'paused') pause.begin(response.code);
  else if (response.kind !== 'well') pause.probeLater();
  return response.kind === 'well';
}
