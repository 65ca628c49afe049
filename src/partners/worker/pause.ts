import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { PauseCode } from '../deletions/act/issue-editor.ts';

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
