import { randomBytes } from 'node:crypto';
import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError, type TrackportError } from '#shared/errors.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import type { Database } from '#shared/database.ts';

/** Checks that a store takes writes: one that is full, or read-only, still lets everybody read. */
export type WriteCheck = {
  /** Settles as `write` does. Its end counts for the check from then on. */
  watch<T>(write: Promise<T>): Promise<T>;
  /**
   * Resolves while writing works. Tries it now and then, also to find out that it works again.
   * @throws {store-unavailable} with why the last write failed
   */
  check(): Promise<void>;
  /** Resolves when there is room for a large delivery at this moment. @throws {store-unavailable} */
  checkRoom(): Promise<void>;
};

/** While all is well a small write is tried this often, for a store that nobody writes to. */
const TRY_EVERY_MS = 10 * SECOND;
const TRY_AGAIN_MS = 2 * SECOND;

const FEW_BYTES = 16;
/** More than most deliveries: a few bytes may fit where those do not. */
const LARGE_BYTES = 64 * 1024;

const FILL = 'UPDATE write_check SET filler = @filler';

export function createWriteCheck(
  database: Pick<Database, 'transaction'>,
  clock: Pick<Clock, 'monotonicMs'>,
): WriteCheck {
  // By chance, for what is there already is not written, and what can be compressed takes less.
  const fill = async (bytes: number): Promise<void> =>
    void (await database.transaction((tx) => tx.run(FILL, { filler: randomBytes(bytes) })));
  const touch = () => fill(FEW_BYTES);
  const tryRoom = () => fill(LARGE_BYTES).then(touch);
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
