import { type Clock, sleepUntilAborted } from '../clock.ts';

type RepeatingDeps = {
  /** Must not throw. */
  work: () => Promise<void>;
  everyMs: number;
  clock: Pick<Clock, 'sleep'>;
};

/** Does its work at its start, and then again and again. */
export type Repeating = {
  /** Again after `stop`, too. */
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
};

export function createRepeating({ work, everyMs, clock }: RepeatingDeps): Repeating {
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
