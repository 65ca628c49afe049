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
