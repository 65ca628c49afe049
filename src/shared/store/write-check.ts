import { SECOND } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { isTrackportError } from '../errors.ts';
import type { TrackportError } from '../errors.ts';
import { createSingleFlight } from '../resilience/single-flight.ts';

/** Whether a store takes writes: one that is full, or read-only, still lets everybody read. */
export type WriteCheck = {
  /** Settles as `write` does. Whether the store took it or failed it is what counts from then on. */
  watch<T>(write: Promise<T>): Promise<T>;
  /**
   * Resolves while writing works. Tries it now and then, also to find out that it works again.
   * @throws {store-unavailable} with why the last write failed
   */
  check(): Promise<void>;
};

export type WriteCheckDeps = {
  /** Writes something that nobody needs. `hasFailed`: to see whether what failed works again. */
  tryWriting: (hasFailed: boolean) => Promise<void>;
  clock: Pick<Clock, 'monotonicMs'>;
};

/** While all is well a small write is tried this often, for a store that nobody writes to. */
const TRY_EVERY_MS = 10 * SECOND;
const TRY_AGAIN_MS = 2 * SECOND;

/** @see WriteCheck */
export function createWriteCheck({ tryWriting, clock }: WriteCheckDeps): WriteCheck {
  let failure: TrackportError | undefined;
  let triedAt = -Infinity;
  const noteFailure = (error: unknown): void => {
    if (isTrackportError(error, 'store-unavailable')) failure = error;
  };
  const tryNow = createSingleFlight(async () => {
    triedAt = clock.monotonicMs();
    const hasFailed = failure !== undefined;
    try {
      await tryWriting(hasFailed);
      if (hasFailed) failure = undefined; // else what failed meanwhile may have been more
    } catch (error) {
      noteFailure(error);
    }
  });
  return {
    watch: async (write) => {
      try {
        const result = await write;
        failure = undefined;
        return result;
      } catch (error) {
        noteFailure(error);
        throw error;
      }
    },
    check: async () => {
      const isDue = clock.monotonicMs() - triedAt >= (failure ? TRY_AGAIN_MS : TRY_EVERY_MS);
      if (isDue || tryNow.isRunning()) await tryNow();
      if (failure) throw failure;
    },
  };
}
