import { type Clock, SECOND } from '#shared/clock.ts';
import type { Session } from '../session.ts';

const VERSION = 'SELECT version FROM access_version';

/** How old the version may be: how late a change by another instance is noticed. */
const VERSION_MAX_AGE_MS = SECOND;
/** It is read anew before that, so that a busy instance always knows it. */
const READ_EVERY_MS = VERSION_MAX_AGE_MS / 4;

export type VersionSampler = {
  /** Another number after a change, and whenever nobody can know whether there was one. */
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
export function createVersionSampler(
  session: Pick<Session, 'get'>,
  clock: Pick<Clock, 'monotonicMs'>,
): VersionSampler {
  let version = 0;
  let seen: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    const row = await session.get<{ version: number }>(VERSION);
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
