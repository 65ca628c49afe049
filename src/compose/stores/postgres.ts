import { openDatabase } from '#adapters/postgres/connection/database.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { createWorkerLease } from '#adapters/postgres/worker-lease.ts';
import { searchPostgres } from '#catalog/reading/search.ts';
import { readServerInfo } from '#adapters/postgres/connection/server-info.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

import { createOpenStore, type OpenStore } from './stores.ts';

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
  const workerLease = (instance: string) => createWorkerLease({ database, instance, clock });
  try {
    await database.refuseSharedConnections();
    const migrated = await migrate({ database, log });
    return {
      ...createOpenStore({ database, search: searchPostgres, workerLease }, clock),
      readServer: () => readServerInfo(database),
      migrated,
      opened: () => Promise.resolve(),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
