import { statSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import { guard } from './errors.ts';
import { createRunner, type StatementRunner } from './statements.ts';
import { createPlaceCheck, createPrivately, refuseMountedFile } from './store-file.ts';

/** Wait of a statement for another process's lock, and of the thread that it runs in. */
const BUSY_TIMEOUT_MS = 5 * SECOND;

/** One connection to one SQLite file. Everything on it happens at once, and throws what SQLite throws. */
export type Connection = StatementRunner & {
  readonly handle: BetterSqlite3.Database;
  /**
   * SQLite's own number for what other connections have committed.
   * @see https://www.sqlite.org/pragma.html#pragma_data_version
   */
  version(): number;
  /** Commits what is begun. @throws ESTALE the file is not in its place any more */
  commit: () => void;
  /** From now on a statement waits this many milliseconds for another process's lock; before, 5000. */
  waitAtMost(busyTimeoutMs: number): void;
  /**
   * Moves the write-ahead log into the database and cuts it to nothing: deleted content is in no file any more. False
   * when a reader or another process stood in the way, call it later: all writes would wait with it.
   * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
   */
  truncateLog(): boolean;
  /** Idempotent. */
  close(): void;
};

/**
 * Opens the file, readable by its owner only when it is new. Nothing is migrated.
 *
 * SQLite is built with STAT4 here, and plans a statement with an order, a minimum or a join anew for
 * each value that is bound in its conditions. In what hot statements compare with a parameter a plus
 * stands before it (`key = +@key`): the plan stays the same one, and is made once.
 * @see https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenableqpsg
 * @throws {store-unavailable}
 */
export function openConnection(path: string): Connection {
  return guard(() => {
    createPrivately(path);
    refuseMountedFile(path);
    const opened = statSync(path);
    const handle = new BetterSqlite3(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      configure(handle);
      handle.pragma('schema_version'); // takes the lock that is held for as long as the connection lives
      return wrap(handle, createPlaceCheck(handle, opened));
    } catch (error) {
      handle.close();
      throw error;
    }
  });
}

function configure(handle: BetterSqlite3.Database): void {
  // A read-only file keeps the mode that it has; asking for the same mode again writes nothing.
  if (handle.pragma('journal_mode', { simple: true }) !== 'wal')
    handle.pragma('journal_mode = WAL');
  handle.pragma('synchronous = FULL'); // what was acknowledged with 202 survives a power cut
  handle.pragma('foreign_keys = ON');
  handle.pragma('secure_delete = ON'); // deleted rows are overwritten with zeros
  handle.pragma('temp_store = MEMORY'); // sorting spills no content into a temporary file
  handle.pragma('trusted_schema = OFF');
  handle.pragma('cache_size = -32768'); // KiB
  handle.pragma('wal_autocheckpoint = 4000'); // pages of 4 KiB: fewer stops under load
}

function wrap(handle: BetterSqlite3.Database, refuseMoved: () => void): Connection {
  const version = handle.prepare<[], number>('PRAGMA data_version').pluck();
  return {
    ...createRunner(handle),
    handle,
    version: () => version.get() ?? 0,
    commit: () => {
      refuseMoved();
      handle.exec('COMMIT');
    },
    waitAtMost: (busyTimeoutMs) => void handle.pragma(`busy_timeout = ${busyTimeoutMs}`),
    truncateLog: () => {
      const waitMs = handle.pragma('busy_timeout', { simple: true }) as number;
      handle.pragma('busy_timeout = 0');
      try {
        return handle.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
      } finally {
        handle.pragma(`busy_timeout = ${waitMs}`);
      }
    },
    close: () => void handle.close(),
  };
}
