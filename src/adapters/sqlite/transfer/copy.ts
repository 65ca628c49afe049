import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { refuseOtherSchema } from '#shared/store/migrations.ts';
import type { TableShape } from '#shared/store/transfer/match-tables.ts';
import type { FillableStore, ReadableStore } from '#shared/store/transfer/table.ts';
import { cutTerms } from '../../store/artifact/search-terms.ts';
import { insertRows } from '../../store/transfer/rows.ts';
import { openConnection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';
import { createSession } from '../connection/session.ts';
import { migrate, readMigrationState } from '../migrate.ts';
import { openEmptyStore } from './empty-store.ts';
import { openExclusively } from './exclusive.ts';
import { createReader, setNumbers } from './rows.ts';
import { listCopiedTables, quote } from './tables.ts';

/** Lets `work` read a stopped store, of which nothing changes meanwhile. @throws as `withStopped` */
export function readStopped<T>(
  path: string,
  work: (store: ReadableStore, shapes: readonly TableShape[]) => Promise<T>,
): Promise<T> {
  return withStopped(path, (handle) => work(createReader(handle), listCopiedTables(handle)));
}

/**
 * Lets `work` have a stopped store for itself, in a transaction that it has to commit if it writes.
 * @throws {store-unavailable} also when it is in use, is not there, or has another schema than today's
 */
export async function withStopped<T>(
  path: string,
  work: (handle: Database) => Promise<T>,
): Promise<T> {
  if (!existsSync(path))
    throw new TrackportError('store-unavailable', { detail: 'There is no such file.' });
  const store = openExclusively(path);
  try {
    guard(() => refuseOtherSchema(readMigrationState(store)));
    return await work(store.handle);
  } finally {
    store.close();
  }
}

/**
 * Lets `work` fill an empty store: the whole of what it writes, or nothing. The file is made when it
 * is missing.
 * @throws {store-unavailable} also when it is in use, or not empty
 */
export async function fillEmpty<T>(
  path: string,
  work: (store: FillableStore, shapes: readonly TableShape[]) => Promise<T>,
): Promise<T> {
  const target = await openEmptyStore(path);
  try {
    const connection = openConnection(target.draft);
    let result: T;
    try {
      migrate({ database: connection, log: silentLog });
      result = await fill(connection.handle, work);
    } finally {
      connection.close();
    }
    target.replace();
    return result;
  } finally {
    target.close();
  }
}

/** In one transaction: a file that is dropped when something fails needs no commits in between. */
async function fill<T>(
  handle: Database,
  work: (store: FillableStore, shapes: readonly TableShape[]) => Promise<T>,
): Promise<T> {
  const shapes = listCopiedTables(handle);
  const session = createSession(handle);
  guard(() => handle.exec('BEGIN'));
  for (const { name } of shapes) handle.exec(`DELETE FROM ${quote(name)}`); // what migrations write
  const result = await work(
    {
      ...createReader(handle),
      insert: (table, rows) => insertRows(session, table, rows),
      complete: async (lastNumbers) => {
        await cutTerms(session);
        guard(() => setNumbers(handle, lastNumbers));
      },
    },
    shapes,
  );
  guard(() => handle.exec('COMMIT'));
  return result;
}
