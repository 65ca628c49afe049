import type { Clock } from '#shared/clock.ts';

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
