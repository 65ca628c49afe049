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
  /** Resolves when there is room for a large delivery at this moment. @throws {store-unavailable} */
  checkRoom(): Promise<void>;
};

export type WriteCheckDeps = {
  /** Writes a few bytes that nobody needs, where they are always written. */
  touch: () => Promise<void>;
  /** Writes as much as a large delivery, where that needs room, and leaves nothing. */
  tryRoom: () => Promise<void>;
  clock: Pick<Clock, 'monotonicMs'>;
};

/** While all is well a small write is tried this often, for a store that nobody writes to. */
const TRY_EVERY_MS = 10 * SECOND;
const TRY_AGAIN_MS = 2 * SECOND;

/** More than most deliveries: a few bytes may fit where those do not. */
export const LARGE_BYTES = 64 * 1024;

/** @see WriteCheck */
export function createWriteCheck({ touch, tryRoom, clock }: WriteCheckDeps): WriteCheck {
  let failure: TrackportError | undefined;
  let triedAt = -Infinity;
  const noteFailure = (error: unknown): void => {
    if (isTrackportError(error, 'store-unavailable')) failure = error;
  };
  const tryNow = createSingleFlight(async () => {
    triedAt = clock.monotonicMs();
    const hasFailed = failure !== undefined;
    try {
      await (hasFailed ? tryRoom() : touch());
      if (hasFailed) failure = undefined; // else what failed meanwhile may have been more
    } catch (error) {
      noteFailure(error);
    }
  });
  return {
    checkRoom: tryRoom,
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
