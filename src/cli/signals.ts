import { isatty } from 'node:tty';

import type { Clock } from '#shared/clock.ts';

/** npm, a shell and our own launcher each pass one signal on: it counts once. */
const SAME_SIGNAL_MS = 100;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, which is a person losing patience, ends
 * the process at once with exit code 1.
 */
export function nextStopSignal(clock: Pick<Clock, 'monotonicMs'>): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAt === undefined) {
        firstAt = clock.monotonicMs();
        resolve(signal);
      } else if (clock.monotonicMs() - firstAt >= SAME_SIGNAL_MS) {
        process.exit(1);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

export type Hangups = {
  /** What a SIGHUP calls from now on; at once when one came already. */
  reloadWith(reload: () => void): void;
  /**
   * Resolves when a signal comes because the terminal is gone that the process was started from:
   * then it is to end, for nobody is left who could end it.
   */
  terminalGone: Promise<void>;
};

const STANDARD_INPUT = 0;

/** SIGHUP would end the process; here it starts a reload. */
export function listenForHangups(clock: Pick<Clock, 'sleep'>): Hangups {
  const hadTerminal = isatty(STANDARD_INPUT);
  let reload: (() => void) | undefined;
  let isDue = false;
  const reloadWhenDue = (): void => {
    if (!isDue || reload === undefined) return;
    isDue = false;
    reload();
  };
  const terminalGone = new Promise<void>((resolve) => {
    process.on('SIGHUP', () => {
      if (hadTerminal && !isatty(STANDARD_INPUT)) {
        resolve();
        return;
      }
      isDue = true;
      // What is read after the wait serves every signal that came before its end.
      void clock.sleep(SAME_SIGNAL_MS, { unref: true }).then(reloadWhenDue);
    });
  });
  return {
    terminalGone,
    reloadWith: (given) => {
      reload = given;
      reloadWhenDue();
    },
  };
}
