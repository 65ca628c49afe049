import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type LocalDatabase,
  openDatabase,
  openThreadedDatabase,
  type SqliteDatabase,
} from '#adapters/sqlite/database.ts';
import { type Transact } from '#shared/database.ts';
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
export function threadedDatabase(): SqliteDatabase {
  const database = openThreadedDatabase({
    path: writeMigratedStore(path.join(temporaryFolder(), 'trackport.db')),
    onCrash: (error) => {
      throw error;
    },
  });
  onTestFinished(() => database.close());
  return database;
}

/** Every byte of the database and of its log, as one character each. */
export function bytesInFiles({ handle }: SqliteDatabase): string {
  return [handle.name, `${handle.name}-wal`]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('');
}

/** The same database; `around` is called in place of every transaction. */
export function withCommits(
  database: LocalDatabase,
  around: <T>(commit: () => Promise<T>) => Promise<T>,
): LocalDatabase {
  const transaction: Transact = async (work) => around(() => database.transaction(work));
  const exclusive: Transact = async (work) => around(() => database.exclusive(work));
  return { ...database, transaction, exclusive };
}
