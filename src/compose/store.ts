import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createConsumerStore } from '#adapters/sqlite/consumer-store.ts';
import { openDatabase, type Database } from '#adapters/sqlite/database.ts';
import { migrate, type Migration } from '#adapters/sqlite/migrate.ts';
import { resolveSecretKey } from '#config/secret-key.ts';
import type { Config } from '#config/schema.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

import { StartError, storeError } from './start-error.ts';

/** The open store with what every area needs of it. */
export type Store = {
  database: Database;
  /** The SQLite file. */
  path: string;
  /** The bytes of `secretKey`; only sub-keys of it are used. */
  secretKey: Buffer;
  consumers: ReturnType<typeof createConsumerStore>;
  audit: ReturnType<typeof createAuditLog>;
  /** What was applied just now. */
  migrated: readonly Migration[];
  close(): void;
};

export type StoreDeps = { config: Pick<Config, 'store' | 'secretKey'>; clock: Clock; log: Log };

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
      return {
        database,
        path,
        secretKey: resolveSecretKey(config),
        consumers: createConsumerStore({ database, clock }),
        audit: createAuditLog(database),
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
