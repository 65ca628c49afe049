/** Work that goes on in the background: again and again, when it is rung for, or while something is left to do. */
import { type Clock, sleepUntilAborted } from '../clock.ts';

/** Does its work at its start, and then again and again. */
export type Repeating = {
  /** Again after `stop`, too. */
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

/** `work` must not throw. */
export function createRepeating(
  work: () => Promise<void>,
  everyMs: number,
  clock: Clock,
): Repeating {
  let stopping = new AbortController();
  let running: Promise<void> | undefined;
  const repeat = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      await work();
      await sleepUntilAborted(clock, everyMs, signal);
    }
  };
  return {
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      running ??= repeat(stopping);
    },
    stop: async () => {
      stopping.abort(new Error('the work stops'));
      await running;
      running = undefined;
    },
  };
}

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

/** Works off in the background what was put somewhere, for as long as there is some. */
type Drain = {
  /** To be called when there is something to do. Nothing happens while it is at work. */
  start(): void;
  /** Resolves when nothing is left to do, or all of it was given up. */
  settled(): Promise<void>;
};

export function createDrain({
  hasWork,
  work,
}: {
  hasWork: () => boolean;
  /**
   * Does some of it, and waits as long as more may come that is better done together. Never rejects.
   * `hurry` is aborted as soon as somebody waits for the end.
   */
  work: (hurry: AbortSignal) => Promise<void>;
}): Drain {
  let running: Promise<void> | undefined;
  let hurry = new AbortController();
  const run = async ({ signal }: AbortController): Promise<void> => {
    while (hasWork()) await work(signal);
    running = undefined; // at once: what is put from now on starts it again
  };
  return {
    start: () => {
      if (running || !hasWork()) return;
      hurry = new AbortController();
      running = run(hurry);
    },
    settled: async () => {
      hurry.abort();
      await running;
    },
  };
}
