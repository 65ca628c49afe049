import { silentLog } from '#shared/log.ts';
import { refuseOtherSchema } from '#shared/store/migrations.ts';
import type { FillableStore, ReadableStore, Table } from '#shared/store/transfer/table.ts';
import { cutTerms } from '../../store/artifact/search-terms.ts';
import { refuseUnlessEmpty, replacedTables } from '../../store/transfer/empty.ts';
import { insertRows } from '../../store/transfer/rows.ts';
import { openDatabase } from '../connection/database.ts';
import type { Database, Session } from '../connection/database.ts';
import { migrate, readMigrationState } from '../migrate.ts';
import { refuseSharedConnections } from '../connection/pooling.ts';
import { withStoppedStore } from './exclusive.ts';
import { createReader, setNumbers } from './rows.ts';
import { listTables } from './tables.ts';

/** Lets `work` read a stopped store, of which nothing changes meanwhile. @throws as `withStopped` */
export function readStopped<T>(
  url: string,
  work: (store: ReadableStore, tables: readonly Table[]) => Promise<T>,
): Promise<T> {
  return withStopped(url, async (session) =>
    work(createReader(session), await listTables(session)),
  );
}

/**
 * Lets `work` have a stopped store for itself, in one transaction.
 * @throws {store-unavailable} also when it is in use, or has another schema than today's
 */
export function withStopped<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  return withDatabase(url, async (database) => {
    refuseOtherSchema(await readMigrationState(database));
    return withStoppedStore(database, work);
  });
}

/**
 * Lets `work` fill an empty store: the whole of what it writes, or nothing. The schema is made where
 * it is missing.
 * @throws {store-unavailable} also when it is in use, or not empty
 */
export async function fillEmpty<T>(
  url: string,
  work: (store: FillableStore, tables: readonly Table[]) => Promise<T>,
): Promise<T> {
  return withDatabase(url, async (database) => {
    await migrate({ database, log: silentLog });
    return withStoppedStore(database, async (session) => {
      const tables = await listTables(session);
      await refuseUnlessEmpty(session, tables, ANOTHER);
      for (const name of replacedTables) await session.run(`DELETE FROM "${name}"`);
      const store: FillableStore = {
        ...createReader(session),
        insert: (table, rows) => insertRows(session, table, rows),
        complete: async (lastNumbers) => {
          await cutTerms(session);
          await setNumbers(session, lastNumbers);
          // Else the first minutes of a service would be planned as if nothing was there.
          await session.exec(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
        },
      };
      return work(store, tables);
    });
  });
}

const ANOTHER = 'Name another database, or drop this one and create it again.';

/** On one connection, so that every other one is somebody else's. */
async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  await withConnections(2, url, refuseSharedConnections);
  return withConnections(1, url, work);
}

async function withConnections<T>(
  connectionsMax: number,
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url, connectionsMax });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
