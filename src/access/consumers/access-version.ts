import { type Clock, SECOND } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';

const VERSION = 'SELECT version FROM access_version';

/** Age of the version at most, and so the delay of changes by another instance. */
const VERSION_MAX_AGE_MS = SECOND;
/** It is read anew before that, so that a busy instance always knows it. */
const READ_EVERY_MS = VERSION_MAX_AGE_MS / 4;

export type AccessVersion = {
  /**
   * Another number after a consumer, key or grant changed: at once for changes made here, within a second for those
   * of other instances. Also while nobody can know whether something did. Cheap enough for every request.
   */
  read(): number;
  /** Something was changed here. */
  expire(): void;
  /** Resolves when no read is under way. */
  settled(): Promise<void>;
};

/**
 * The version of consumers, keys and grants, without waiting for the store: it is read beside the
 * calls that ask for it. While what was read last is too old to be trusted (nobody asked for a while,
 * or the store is away), every call gets a number of its own, and so remembers nothing.
 */
export function createAccessVersion(db: Pick<Statements, 'get'>, clock: Clock): AccessVersion {
  let version = 0;
  let seen: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    const row = await db.get<{ version: number }>(VERSION);
    if (row?.version !== seen) version += 1;
    seen = row?.version;
    readAt = startedAt;
  };
  const isWithin = (ageMs: number): boolean => clock.monotonicMs() - readAt < ageMs;
  return {
    read: () => {
      if (!isWithin(READ_EVERY_MS))
        reading ??= look()
          .catch(() => undefined) // the store is away: the next call tries again
          .finally(() => {
            reading = undefined;
          });
      if (!isWithin(VERSION_MAX_AGE_MS)) version += 1;
      return version;
    },
    expire: () => {
      version += 1;
    },
    settled: async () => reading,
  };
}
