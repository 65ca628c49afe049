import { SECOND } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { TrackportError } from '#shared/errors.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import type { Connection } from './connection/connection.ts';
import type { Database } from './connection/database.ts';
import type { WriteFamily } from './writer/writer.ts';

/** Whether the store takes writes: a disk that is full, or read-only, still lets everybody read. */
export type WriteCheck = {
  /** Settles as `write` does. Whether the store took it or failed it is what counts from then on. */
  watch<T>(write: Promise<T>): Promise<T>;
  /**
   * Resolves while writing works. Tries it now and then, also to find out that it works again.
   * @throws {store-unavailable} with why the last write failed
   */
  check(): Promise<void>;
};

/** While all is well a small write is tried this often, for a store that nobody writes to. */
const TRY_EVERY_MS = 10 * SECOND;
const TRY_AGAIN_MS = 2 * SECOND;
/** More than most deliveries: a few bytes may fit where those do not. */
const LARGE_BYTES = 64 * 1024;

const MAKE_LARGE = `
  CREATE TABLE IF NOT EXISTS write_check (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  INSERT OR REPLACE INTO write_check (id, filler) VALUES (1, zeroblob(${LARGE_BYTES}))`;
const DROP_LARGE = 'DROP TABLE IF EXISTS write_check';

type CheckWrites = ReturnType<typeof createCheckWrites>;

export const checkWrites: WriteFamily<undefined, CheckWrites> = {
  name: 'write-check',
  create: createCheckWrites,
};

function createCheckWrites({ handle }: Connection) {
  const touch = handle.prepare('UPDATE claim_version SET version = version');
  return {
    touch: () => void touch.run(),
    makeLarge: () => void handle.exec(MAKE_LARGE),
    dropLarge: () => void handle.exec(DROP_LARGE),
  };
}

/** Waits for another process's lock as deliveries do. */
export function createWriteCheck(
  { writer }: Pick<Database, 'writer'>,
  clock: Pick<Clock, 'monotonicMs'>,
): WriteCheck {
  const commit = writer.open(checkWrites, undefined);
  let failure: TrackportError | undefined;
  let triedAt = -Infinity;

  const noteFailure = (error: unknown): void => {
    if (isTrackportError(error, 'store-unavailable')) failure = error;
  };
  const write = async (): Promise<void> => {
    if (!failure) return commit('touch');
    await commit('makeLarge');
    await commit('dropLarge');
    failure = undefined;
  };
  const tryNow = createSingleFlight(async () => {
    triedAt = clock.monotonicMs();
    await write().catch(noteFailure);
  });
  return {
    watch: async (pending) => {
      try {
        const result = await pending;
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
