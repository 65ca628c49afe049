import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { PauseCode } from '../deletions/act/issue-editor.ts';

/**
 * What keeps the worker from changing issues, for all events alike. `isCertain`: false while it may
 * be one issue's own; then the others are tried as ever. Instants are ms since the Unix epoch.
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
  /** A rate limit is in force until this instant. */
  limitUntil(instant: number): void;
  /** How long the rate limit is still in force, in ms; 0 or less: it is not. */
  limitedMs(): number;
  /** The clock was set back: instants ahead come that much earlier. */
  moveBack(byMs: number): void;
};

export type TrackerPauseDeps = {
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** How often a pause is questioned, in ms. */
  probeEveryMs: number;
};

/** @see TrackerPause */
export function createTrackerPause({ clock, log, probeEveryMs }: TrackerPauseDeps): TrackerPause {
  let pause: Pause | undefined;
  let limitedUntil = -Infinity;
  const nextProbeAt = (): number => clock.now() + probeEveryMs;
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
      limitedUntil = instant;
    },
    limitedMs: () => limitedUntil - clock.now(),
    moveBack: (byMs) => {
      limitedUntil -= byMs;
      if (pause) pause.probeAt -= byMs;
    },
  };
}
