import type { Clock } from '#shared/clock.ts';

/** Keeps writes to the tracker apart. */
export type Pacer = {
  /** Resolves when the next write may be made. @throws the signal's reason when it is aborted */
  turn(signal: AbortSignal): Promise<void>;
};

/** At least `intervalMs` between the starts of two writes. */
export function createPacer(clock: Clock, intervalMs: number): Pacer {
  let nextAt = 0;
  let seenAt = 0;
  return {
    turn: async (signal) => {
      signal.throwIfAborted();
      nextAt -= Math.max(0, seenAt - clock.now()); // the clock was set back
      seenAt = clock.now();
      const at = Math.max(clock.now(), nextAt);
      nextAt = at + intervalMs;
      await clock.sleep(at - clock.now(), { signal });
    },
  };
}
