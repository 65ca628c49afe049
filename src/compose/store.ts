import { openDatabase, writeInThread } from '#adapters/sqlite/database.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { createWriteCheck } from '#adapters/sqlite/write-check.ts';
import type { WriteCheck } from '#adapters/sqlite/write-check.ts';
import { resolveSecretKey } from '#config/secret-key.ts';
import type { Config } from '#config/schema.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import type { Migration } from '#shared/migrations.ts';
import { createCursorSealer } from '#shared/page.ts';
import type { CursorSealer } from '#shared/page.ts';

import { StartError, storeError } from './start-error.ts';

/** The open store with what every area needs of it. */
export type Store = {
  database: Database;
  /** The SQLite file. */
  path: string;
  /** The bytes of `secretKey`; only sub-keys of it are used. */
  secretKey: Buffer;
  /** Seals and opens the cursors of every list. */
  cursors: CursorSealer;
  /** Whether deliveries can be stored. */
  writes: WriteCheck;
  /** What was applied just now. */
  migrated: readonly Migration[];
  /** Resolves when all that was asked for is written. */
  close(): Promise<void>;
};

export type StoreDeps = { config: Pick<Config, 'store' | 'secretKey'>; clock: Clock; log: Log };

/** The key of the lead directory's hashes, and of those by which a repeat is known. */
export function directoryKeyOf({ secretKey }: Pick<Store, 'secretKey'>): Buffer {
  return deriveKey(secretKey, 'directory');
}

export type ServiceStoreDeps = StoreDeps & {
  /** What the writing thread runs, for tests that disturb it. */
  writerModule?: URL;
};

/**
 * How long a statement of a service may wait for another process's lock, and all its readers with
 * it. Writes wait elsewhere, and commands and migrations longer: nobody waits for them.
 */
const READ_WAIT_MS = 100;

/** Opens the store and brings it to the newest schema. @throws {StartError} */
export function openStore({ config, clock, log }: StoreDeps): Store {
  if (config.store.url.engine !== 'sqlite')
    throw new StartError(
      'This version keeps its data in SQLite only: set store.url to sqlite:PATH.',
    );
  const { path } = config.store.url;
  try {
    const database = openDatabase({ path });
    try {
      const migrated = migrate({ database, log });
      const secretKey = resolveSecretKey(config);
      return {
        database,
        path,
        secretKey,
        cursors: createCursorSealer(deriveKey(secretKey, 'cursors')),
        writes: createWriteCheck(database, clock),
        migrated,
        close: () => closeDatabase(database),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw storeError(error, config.store.url);
  }
}

async function closeDatabase(database: Database): Promise<void> {
  try {
    await database.writer.close();
  } finally {
    database.close();
  }
}

export type ServiceStore = Store & {
  /** Resolves when writes are made; they wait until then. @throws {store-unavailable} */
  opened(): Promise<void>;
};

/**
 * The store of a service: a thread of its own writes, so that no reader waits for a disk. Its crash
 * is thrown where nobody can catch it, which ends the process: what was asked for may be written or
 * not, and a reader must not go on as if nothing was. @throws {StartError}
 */
export function openServiceStore(deps: ServiceStoreDeps): ServiceStore {
  const store = openStore(deps);
  const { writerModule } = deps;
  const database = writeInThread(store.database, {
    ...(writerModule && { module: writerModule }),
    onCrash: (error) => {
      deps.log.error(errorFields(error), 'the writing thread has crashed');
      throw error;
    },
  });
  database.waitAtMost(READ_WAIT_MS);
  return {
    ...store,
    database,
    writes: createWriteCheck(database, deps.clock),
    opened: () => database.writer.opened(),
    close: () => closeDatabase(database),
  };
}
