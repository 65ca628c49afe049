import { type Clock, sleepUntilAborted } from '../clock.ts';

/** Lets a loop sleep until there is something to do. */
export type Alarm = {
  /** Ends the wait, or the next one when nobody waits. */
  ring(): void;
  /** Resolves after `ms` milliseconds, when it rings, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

export function createAlarm(clock: Clock): Alarm {
  let hasRung = false;
  let wake = (): void => {};
  return {
    ring: () => {
      hasRung = true;
      wake();
    },
    wait: async (ms, signal) => {
      const over = new AbortController();
      const rung = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const slept = sleepUntilAborted(clock, ms, AbortSignal.any([signal, over.signal]));
      if (!hasRung) await Promise.race([rung, slept]);
      hasRung = false;
      over.abort();
    },
  };
}
