import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type LocalDatabase,
  openDatabase,
  openThreadedDatabase,
  type SqliteDatabase,
} from '#adapters/sqlite/database.ts';
import { type Transact, withoutWarning } from '#shared/database.ts';
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
export async function threadedDatabase(): Promise<SqliteDatabase> {
  const database = openThreadedDatabase({
    path: writeMigratedStore(path.join(temporaryFolder(), 'trackport.db')),
    onCrash: (error) => {
      throw error;
    },
  });
  onTestFinished(() => database.close());
  await database.opened;
  return database;
}

/** The database as a crash leaves it: after one audited change nothing is written any more. */
export function dyingAfterCommit(database: LocalDatabase): LocalDatabase {
  const audited = database.handle.prepare<[], number>('SELECT COUNT(*) FROM audit').pluck();
  const before = audited.get();
  return withCommits(database, (commit) => {
    if (audited.get() !== before) throw new TrackportError('store-unavailable');
    return commit();
  });
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

/** The same database; `before` is called before every row is written in a transaction, and may throw. */
export function withWrites(
  database: LocalDatabase,
  before: (sql: string, values: unknown) => void,
): LocalDatabase {
  const around =
    (transact: Transact): Transact =>
    (work) =>
      transact(async (tx) => {
        const failures: unknown[] = [];
        const checked = <T>(sql: string, values: unknown, write: () => Promise<T>): Promise<T> => {
          try {
            before(sql, values);
            return write();
          } catch (error) {
            failures.push(error);
            return withoutWarning(Promise.reject<T>(error));
          }
        };
        const result = await work({
          ...tx,
          run: (sql, values) => checked(sql, values, () => tx.run(sql, values)),
          insert: (into, rows) => checked(into.all, rows, () => tx.insert(into, rows)),
        });
        if (failures.length > 0) throw failures[0]; // also one that nobody waited for
        return result;
      });
  const { transaction, exclusive } = database;
  return { ...database, transaction: around(transaction), exclusive: around(exclusive) };
}
