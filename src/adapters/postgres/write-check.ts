import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { TrackportError } from '#shared/errors.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import type { Session } from './connection/database.ts';

/** While all is well a small write is tried this often, for a store that nobody writes to. */
const TRY_EVERY_MS = 10 * SECOND;
const TRY_AGAIN_MS = 2 * SECOND;

const WRITE = 'UPDATE write_check SET checked_at = @now';

/** Resolves when the store can be written at this moment. @throws {store-unavailable} */
export async function tryWriting(
  session: Pick<Session, 'run'>,
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  await session.run(WRITE, { now: clock.now() });
}

/** Whether the store takes writes: one that is read-only or full still lets everybody read. */
export function createWriteCheck(session: Pick<Session, 'run'>, clock: Pick<Clock, 'now'>) {
  let failure: TrackportError | undefined;
  let triedAt = -Infinity;
  const watch = async <T>(write: Promise<T>): Promise<T> => {
    try {
      const result = await write;
      failure = undefined;
      return result;
    } catch (error) {
      if (isTrackportError(error, 'store-unavailable')) failure = error;
      throw error;
    }
  };
  const tryNow = createSingleFlight(async () => {
    triedAt = clock.now();
    await watch(tryWriting(session, clock)).catch(() => undefined); // `failure` tells
  });
  return {
    /** Answers the same. Whether the store took it or failed it is what counts from then on. */
    watch,
    /**
     * Resolves while writing works. Tries it now and then, also to find out that it works again.
     * @throws {store-unavailable} with why the last write failed
     */
    check: async (): Promise<void> => {
      const isDue = Math.abs(clock.now() - triedAt) >= (failure ? TRY_AGAIN_MS : TRY_EVERY_MS);
      if (isDue || tryNow.isRunning()) await tryNow();
      if (failure) throw failure;
    },
  };
}
