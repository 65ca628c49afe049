import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { SECOND } from '#shared/clock.ts';
import { createGroupCommit } from '../../store/group-commit.ts';
import { BUSY, type Session, type StoreDatabase, unavailable } from '../../store/session.ts';
import { guard, isBusy, translate } from './errors.ts';
import { createSession } from './session.ts';
import { createPlaceCheck, createPrivately, isFile, refuseMountedFile } from './store-file.ts';

/** How long a statement waits for another process's lock, and the event loop with it. */
const BUSY_TIMEOUT_MS = 5 * SECOND;

/** One connection to one SQLite file. Everything on it happens at once; stores await it all the same. */
export type Connection = Session & {
  readonly handle: BetterSqlite3.Database;
  /**
   * Runs `work` in one transaction that holds the write lock from its start (`BEGIN IMMEDIATE`),
   * so that what `work` reads cannot change before it writes. Rolled back when `work` throws.
   * @throws {store-unavailable} nothing was committed; also when the file is not in its place any more
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** From now on a statement waits this many milliseconds for another process's lock; before, 5000. */
  waitAtMost(busyTimeoutMs: number): void;
  /**
   * SQLite's own number for what other connections have committed: another one whenever any of them
   * did. Looked at once for all reads of one turn of the event loop, at its end: cheap enough for every
   * request. @throws {store-unavailable}
   * @see https://www.sqlite.org/pragma.html#pragma_data_version
   */
  dataVersion(): Promise<number>;
  /**
   * Moves the write-ahead log into the database and cuts it to nothing, so that deleted content is
   * in no file any more. False when another process stood in the way, call it later.
   * @throws {store-unavailable}
   */
  truncateLog(): boolean;
  /** Idempotent. */
  close(): void;
};

/**
 * Opens the file, readable by its owner only when it is new. Nothing is migrated: that is
 * `migrate`'s work.
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
      // A first look takes the lock that is held for as long as the connection lives. A file that a
      // restore replaced before that is not the store.
      handle.pragma('schema_version');
      if (!isFile(path, opened)) throw unavailable(BUSY);
      return wrap(handle, createPlaceCheck(path, opened));
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
  const session = createSession(handle);
  return {
    ...session,
    handle,
    transaction: async (work) => {
      guard(() => handle.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(session);
        refuseMoved();
        handle.exec('COMMIT');
        return result;
      } catch (error) {
        if (handle.inTransaction) handle.exec('ROLLBACK');
        throw translate(error);
      }
    },
    waitAtMost: (busyTimeoutMs) => void handle.pragma(`busy_timeout = ${busyTimeoutMs}`),
    dataVersion: createNextTurnFlight(async () => guard(() => version.get() ?? 0)),
    truncateLog: () => guard(() => truncateLog(handle)),
    close: () => guard(() => handle.close()),
  };
}

function truncateLog(handle: BetterSqlite3.Database): boolean {
  const [result] = handle.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  return result?.busy === 0;
}

/**
 * Everything that is written goes through one of these. Writes that are asked for at the same time,
 * of whatever store, share one commit and with it one write to the disk.
 */
export type Writer = StoreDatabase['writer'] & {
  /** As `Connection.truncateLog`. */
  truncateLog(): Promise<boolean>;
  /** Resolves when all that was asked for is written and the connection is closed. Idempotent. */
  close(): Promise<void>;
};

/** Waits for another process's lock: 1 ms, 2 ms, and then this long each. */
const LOCK_POLL_MS = 5;

/** Writes on a connection of its own, in this thread. It waits for another process's lock about `lockWaitMs`. */
export function createLocalWriter(
  connection: Connection,
  { lockWaitMs }: { lockWaitMs: number },
): Writer {
  connection.waitAtMost(0); // the writer waits, and not in a statement
  const { call, settled } = createGroupCommit({
    transaction: (work) => whileBusy(lockWaitMs, () => connection.transaction(work)),
    isLocked: isBusy,
  });
  return {
    call,
    callExclusive: call,
    truncateLog: async () => connection.truncateLog(),
    close: async () => {
      await settled();
      connection.close();
    },
  };
}

/** Tries again and again while another process writes, without holding up the event loop. */
async function whileBusy<T>(lockWaitMs: number, work: () => Promise<T>): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || waits * LOCK_POLL_MS > lockWaitMs) throw error;
      await setTimeout(Math.min(waits, LOCK_POLL_MS));
    }
  }
}
