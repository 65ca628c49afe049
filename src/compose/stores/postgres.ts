import { createVersionReader } from '#adapters/postgres/connection/data-version.ts';
import { openDatabase } from '#adapters/postgres/connection/database.ts';
import type { Database } from '#adapters/postgres/connection/database.ts';
import { migrate, readMigrationState } from '#adapters/postgres/migrate.ts';
import { refuseSharedConnections } from '#adapters/postgres/connection/pooling.ts';
import { searchVersions } from '#adapters/postgres/search-versions.ts';
import { createFingerprint } from '#adapters/store/secret-key.ts';
import { readServerFacts } from '#adapters/postgres/connection/server-facts.ts';
import { createWriteCheck } from '#adapters/store/write-check.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

import { createSharedStores } from './shared.ts';
import type { OpenStore, Stores, StoresOptions } from './stores.ts';

export type PostgresStoreDeps = {
  /** `postgres://user:password@host/database`. */
  url: string;
  clock: Clock;
  log: Log;
};

/** Connects and brings the store to the newest schema. @throws {store-unavailable} */
export async function openPostgresStore({
  url,
  clock,
  log,
}: PostgresStoreDeps): Promise<OpenStore> {
  const database = openDatabase({ url });
  try {
    await refuseSharedConnections(database);
    const migrated = await migrate({ database, log });
    return {
      stores: (options) => createStores(database, options),
      writes: createWriteCheck(database, clock),
      fingerprint: createFingerprint(database),
      readApplied: async () => (await readMigrationState(database)).applied,
      readServer: () => readServerFacts(database),
      migrated,
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function createStores(database: Database, options: StoresOptions): Stores {
  return {
    ...createSharedStores(database, options),
    artifacts: async () => {
      const { createArtifactStore } = await import('#adapters/store/artifact/artifact-store.ts');
      const version = createVersionReader(database);
      return createArtifactStore({ database, version, search: searchVersions });
    },
  };
}
