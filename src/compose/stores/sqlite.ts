import { isDiskFailure } from '#adapters/sqlite/connection/errors.ts';
import {
  openDatabase,
  openThreadedDatabase,
  type SqliteDatabase,
} from '#adapters/sqlite/database.ts';
import { migrate, refuseOtherFile } from '#adapters/sqlite/migrate.ts';
import {
  type LockWait,
  lockForService,
  ownWork,
  type ServiceLock,
} from '#adapters/sqlite/service-lock.ts';
import { searchSqlite } from '#catalog/reading/search.ts';
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

const DISK_FAILED = 'the disk of the store has failed, and nobody can say what is on it';
const THREAD_CRASHED = 'the writing thread has crashed';

/** What a service does before it opens the file. @throws {store-unavailable} naming who has it */
export async function lockSqliteStore(path: string, wait: LockWait): Promise<ServiceLock> {
  await refuseOtherFile(path);
  return lockForService(path, wait);
}

/**
 * Opens the file and brings it to the newest schema. In a service a thread of its own writes, so that no reader
 * waits for a disk. Its crash is thrown where nobody can catch it, which ends the process: what was asked for may
 * be written or not, and a reader must not go on as if nothing was. Writes wait until it is `opened`.
 * @throws {store-unavailable}
 */
export async function openSqliteStore(wait: SqliteStoreDeps): Promise<OpenStore> {
  const { path, clock, log, thread } = wait;
  await refuseOtherFile(path);
  const local = openDatabase({ path });
  let database: SqliteDatabase & { opened?: Promise<void> } = local;
  try {
    const migrated = await migrate({ database: local, log });
    if (thread) {
      await local.close();
      database = openThreadedDatabase({ path, ...thread, onCrash: (error) => crash(log, error) });
    }
    return {
      ...createOpenStore({ database, search: searchSqlite, workerLease: () => ownWork }, clock),
      migrated,
      opened: async () => database.opened,
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function crash(log: Log, error: Error): never {
  log.error(errorFields(error), isDiskFailure(error) ? DISK_FAILED : THREAD_CRASHED);
  throw error;
}
