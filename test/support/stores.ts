import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Database, openDatabase } from '#adapters/sqlite/database.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { temporaryFolder } from './folder.ts';

/** A second connection to a file, as another process would have it; closed when the test ends. */
export function connectTo(file: string): Database {
  const database = openDatabase({ path: file });
  onTestFinished(() => database.close());
  return database;
}

/**
 * A migrated SQLite database in a file of its own, closed and removed when the running test ends.
 * Call it inside a test or a `beforeEach`.
 */
export function temporaryDatabase(): Database {
  const database = connectTo(path.join(temporaryFolder(), 'trackport.db'));
  migrate({ database, log: silentLog });
  return database;
}

/** The database as a crash leaves it: after one audited change nothing is written any more. */
export function dyingAfterCommit(database: Database): Database {
  const audited = database.handle.prepare<[], number>('SELECT COUNT(*) FROM audit').pluck();
  const before = audited.get();
  return {
    ...database,
    transaction: (work) => {
      if (audited.get() !== before) throw new TrackportError('store-unavailable');
      return database.transaction(work);
    },
  };
}
