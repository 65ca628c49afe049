import { openDatabase, writeInThread } from '#adapters/sqlite/connection/database.ts';
import { isDiskFailure } from '#adapters/sqlite/connection/errors.ts';
import { migrate, refuseOtherFile } from '#adapters/sqlite/migrate.ts';
import {
  type LockDeps,
  lockForService,
  ownWork,
  type ServiceLock,
} from '#adapters/sqlite/service-lock.ts';
import { searchSqlite } from '#adapters/store/artifact/search.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';

import { createOpenStore, type OpenStore } from './stores.ts';

export type SqliteStoreDeps = {
  /** The SQLite file. */
  path: string;
  clock: Clock;
  log: Log;
  /** That of a service, and what runs in it, for tests that disturb it. */
  thread?: { module?: URL };
};

/**
 * How long a statement of a service may wait for another process's lock, and all its readers with
 * it. Writes wait elsewhere, and commands and migrations longer: nobody waits for them.
 */
const READ_WAIT_MS = 100;

const DISK_FAILED = 'the disk of the store has failed, and nobody can say what is on it';
const THREAD_CRASHED = 'the writing thread has crashed';

/** What a service does before it opens the file. @throws {store-unavailable} naming who has it */
export async function lockSqliteStore(path: string, deps: LockDeps): Promise<ServiceLock> {
  await refuseOtherFile(path);
  return lockForService(path, deps);
}

/**
 * Opens the file and brings it to the newest schema. In a service a thread of its own writes, so that no reader
 * waits for a disk. Its crash is thrown where nobody can catch it, which ends the process: what was asked for may
 * be written or not, and a reader must not go on as if nothing was. Writes wait until it is `opened`.
 * @throws {store-unavailable}
 */
export async function openSqliteStore({
  path,
  clock,
  log,
  thread,
}: SqliteStoreDeps): Promise<OpenStore> {
  await refuseOtherFile(path);
  const local = openDatabase({ path });
  try {
    const migrated = await migrate({ database: local, log });
    const threaded =
      thread &&
      writeInThread(local, {
        ...thread,
        onCrash: (error) => {
          log.error(errorFields(error), isDiskFailure(error) ? DISK_FAILED : THREAD_CRASHED);
          throw error;
        },
      });
    threaded?.waitAtMost(READ_WAIT_MS);
    const database = threaded ?? local;
    return {
      ...createOpenStore({ database, search: searchSqlite, workerLease: () => ownWork }, clock),
      migrated,
      opened: async () => threaded?.writer.opened(),
      close: async () => {
        try {
          await database.writer.close();
        } finally {
          database.close();
        }
      },
    };
  } catch (error) {
    local.close();
    throw error;
  }
}
