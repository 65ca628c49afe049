import { openDatabase, type Database } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { createWriteCheck, type WriteCheck } from '#adapters/sqlite/write-check.ts';
import { resolveSecretKey } from '#config/secret-key.ts';
import type { Config } from '#config/schema.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import type { Log } from '#shared/log.ts';
import type { Migration } from '#shared/migrations.ts';
import { createCursorSealer, type CursorSealer } from '#shared/page.ts';

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
  close(): void;
};

export type StoreDeps = { config: Pick<Config, 'store' | 'secretKey'>; clock: Clock; log: Log };

/** The key of the lead directory's hashes, and of those by which a repeat is known. */
export function directoryKeyOf({ secretKey }: Pick<Store, 'secretKey'>): Buffer {
  return deriveKey(secretKey, 'directory');
}

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
        close: () => database.close(),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw storeError(error, config.store.url);
  }
}
