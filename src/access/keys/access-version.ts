/** Version of consumers, keys and grants: what is remembered of them holds until it is another one. */
import { type Clock, SECOND } from '#shared/clock.ts';
import type { Statements } from '#shared/database.ts';

const ACCESS_VERSION = 'SELECT version FROM access_version';

/** Age of the version at most, and so the delay of changes by another instance. */
const VERSION_MAX_AGE_MS = SECOND;
/** It is read anew before that, so that a busy instance always knows it. */
const READ_EVERY_MS = VERSION_MAX_AGE_MS / 4;

export type AccessVersion = {
  /**
   * Another number after a consumer, key or grant changed: at once for changes made here, within a second for those of
   * other instances. Undefined while nobody can know, for nobody asked for a while, or the store is away. Never waits:
   * the store is asked beside the calls, and cheap enough for every request.
   */
  current(): number | undefined;
  /** Something was changed here. */
  expire(): void;
};

export function createAccessVersion(db: Pick<Statements, 'get'>, clock: Clock): AccessVersion {
  let version = 0;
  let seen: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    const row = await db.get<{ version: number }>(ACCESS_VERSION);
    if (row?.version !== seen) version += 1;
    seen = row?.version;
    readAt = startedAt;
  };
  const isOlderThan = (ms: number): boolean => clock.monotonicMs() - readAt >= ms;
  return {
    current: () => {
      if (isOlderThan(READ_EVERY_MS))
        reading ??= look()
          .catch(() => undefined) // the store is away: the next call tries again
          .finally(() => {
            reading = undefined;
          });
      return isOlderThan(VERSION_MAX_AGE_MS) ? undefined : version;
    },
    expire: () => {
      version += 1;
    },
  };
}
