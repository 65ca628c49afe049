import { openDatabase, writeInThread } from '#adapters/sqlite/connection/database.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { migrate, readMigrationState } from '#adapters/sqlite/migrate.ts';
import { searchVersions } from '#adapters/sqlite/search-versions.ts';
import { createFingerprint } from '#adapters/store/secret-key.ts';
import { createWriteCheck } from '#adapters/store/write-check.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import type { Migration } from '#shared/store/migrations.ts';

import { createSharedStores } from './shared.ts';
import type { OpenStore, Stores, StoresOptions } from './stores.ts';

export type SqliteStoreDeps = {
  /** The SQLite file. */
  path: string;
  clock: Clock;
  log: Log;
};

export type ThreadedSqliteStoreDeps = SqliteStoreDeps & {
  /** What the writing thread runs, for tests that disturb it. */
  writerModule?: URL;
};

/**
 * How long a statement of a service may wait for another process's lock, and all its readers with
 * it. Writes wait elsewhere, and commands and migrations longer: nobody waits for them.
 */
const READ_WAIT_MS = 100;

/** Opens the file and brings it to the newest schema. @throws {store-unavailable} */
export async function openSqliteStore(deps: SqliteStoreDeps): Promise<OpenStore> {
  const { database, migrated } = openMigrated(deps);
  return toOpenStore({ ...deps, database, migrated });
}

/**
 * The store of a service: a thread of its own writes, so that no reader waits for a disk. Its crash
 * is thrown where nobody can catch it, which ends the process: what was asked for may be written or
 * not, and a reader must not go on as if nothing was. Writes wait until it is `opened`.
 * @throws {store-unavailable}
 */
export function openThreadedSqliteStore(
  deps: ThreadedSqliteStoreDeps,
): OpenStore & { opened(): Promise<void> } {
  const { log, writerModule } = deps;
  const opened = openMigrated(deps);
  const database = writeInThread(opened.database, {
    ...(writerModule && { module: writerModule }),
    onCrash: (error) => {
      log.error(errorFields(error), 'the writing thread has crashed');
      throw error;
    },
  });
  database.waitAtMost(READ_WAIT_MS);
  return {
    ...toOpenStore({ ...deps, ...opened, database }),
    opened: () => database.writer.opened(),
  };
}

type Opened = { database: Database; migrated: readonly Migration[] };

function openMigrated({ path, log }: SqliteStoreDeps): Opened {
  const database = openDatabase({ path });
  try {
    return { database, migrated: migrate({ database, log }) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function toOpenStore({
  database,
  migrated,
  clock,
}: Opened & Pick<SqliteStoreDeps, 'clock'>): OpenStore {
  return {
    stores: (options) => createStores(database, options),
    writes: createWriteCheck(database, clock),
    fingerprint: createFingerprint(database),
    readApplied: async () => readMigrationState(database).applied,
    migrated,
    close: () => closeDatabase(database),
  };
}

function createStores(database: Database, options: StoresOptions): Stores {
  return {
    ...createSharedStores(database, options),
    artifacts: async () => {
      const { createArtifactStore } = await import('#adapters/store/artifact/artifact-store.ts');
      const version = () => database.version();
      return createArtifactStore({ database, version, search: searchVersions });
    },
  };
}

async function closeDatabase(database: Database): Promise<void> {
  try {
    await database.writer.close();
  } finally {
    database.close();
  }
}
