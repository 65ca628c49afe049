import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type Database,
  type LocalDatabase,
  openDatabase,
  writeInThread,
} from '#adapters/sqlite/connection/database.ts';
import { createLocalWriter, openConnection } from '#adapters/sqlite/connection/connection.ts';
import type { Session } from '#adapters/store/session.ts';
import { TrackportError } from '#shared/errors.ts';
import { temporaryFolder } from './folder.ts';
import { writeMigratedStore } from './migrated-store.ts';

/** A second connection to a file, as another process would have it; closed when the test ends. */
export function connectTo(file: string): LocalDatabase {
  const database = openDatabase({ path: file });
  onTestFinished(() => database.close());
  return database;
}

/**
 * A migrated SQLite database in a file of its own, closed and removed when the running test ends.
 * Call it inside a test or a `beforeEach`.
 */
export function temporaryDatabase(): LocalDatabase {
  return connectTo(writeMigratedStore(path.join(temporaryFolder(), 'trackport.db')));
}

/** The same, with a thread that writes, as a service has it. */
export async function threadedDatabase(): Promise<Database> {
  const database = writeInThread(temporaryDatabase(), {
    onCrash: (error) => {
      throw error;
    },
  });
  onTestFinished(() => database.writer.close());
  await database.writer.opened();
  return database;
}

/** The database as a crash leaves it: after one audited change nothing is written any more. */
export function dyingAfterCommit(database: Database): Database {
  const audited = database.handle.prepare<[], number>('SELECT COUNT(*) FROM audit').pluck();
  const before = audited.get();
  return withCommits(database, (commit) => {
    if (audited.get() !== before) throw new TrackportError('store-unavailable');
    return commit();
  });
}

/** The same database; `around` is called in place of every commit of what stores write. */
export function withCommits(
  database: Database,
  around: <T>(commit: () => T) => T,
  { lockWaitMs = 5000 }: { lockWaitMs?: number } = {},
): Database {
  const writing = openConnection(database.handle.name);
  onTestFinished(() => writing.close());
  const connection = {
    ...writing,
    transaction: async <T>(work: (session: Session) => Promise<T>): Promise<T> =>
      around(() => writing.transaction(work)),
  };
  const { transaction } = connection;
  return { ...database, transaction, writer: createLocalWriter(connection, { lockWaitMs }) };
}
