import { setTimeout } from 'node:timers/promises';
import type BetterSqlite3 from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import type { Database, Listening, Reads, Transact } from '#shared/database.ts';
import { createQueue } from '#shared/resilience/queue.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import {
  type Connection,
  openConnection,
  type StatementRunner,
  toRows,
  toStoredValues,
} from './connection/connection.ts';
import { guard, isBusy } from './connection/errors.ts';
import {
  startWritingThread,
  type StartWritingThread,
  type WritingThreadOptions,
} from './writing/thread.ts';
import { type Ask, createBackend, createTransactions } from './writing/transactions.ts';

/** Reads on one connection, at once; writes on another one. No reader sees what is not committed. */
export type SqliteDatabase = Database & { readonly handle: BetterSqlite3.Database };

/** The connection that writes is in this thread. */
export type LocalDatabase = SqliteDatabase & { readonly writing: Connection };

const LOOK_EVERY_MS = SECOND / 4;
/** Wait of a command's transactions for another process's lock. */
const LOCK_WAIT_MS = 5 * SECOND;
/** The same for those of a service, whose callers wait with them. */
const SERVICE_LOCK_WAIT_MS = SECOND;
/**
 * Wait of a service's statement for another process's lock, and of all its readers with it. Commands and
 * migrations wait longer: nobody waits for them.
 */
const SERVICE_READ_WAIT_MS = 100;
/** Waits for another process's lock in this thread: 1 ms, 2 ms, and then this long each. */
const LOCK_POLL_MS = 5;

/**
 * Opens the file, readable by its owner only when it is new; its directory is created when it is missing.
 * Nothing is migrated: that is `migrate`'s work. Writes are made in this thread, which suits commands.
 * @throws {store-unavailable}
 */
export function openDatabase(
  { path }: { path: string },
  { lockWaitMs = LOCK_WAIT_MS }: { lockWaitMs?: number } = {},
): LocalDatabase {
  const reading = openConnection(path);
  const writing = openConnection(path);
  writing.waitAtMost(0); // the caller waits, and not in a statement
  const backend = createBackend(writing);
  const inOrder = createQueue();
  const ask: Ask = (request) => {
    const lockWait = request.kind === 'begin' ? lockWaitMs : 0;
    return inOrder(() => whileBusy(lockWait, () => backend(request)));
  };
  const { transaction, settled } = createTransactions(ask, reading);
  return {
    ...createDatabase(reading, transaction),
    writing,
    truncateWal: async () => guard(() => writing.checkpoint('TRUNCATE')),
    close: async () => {
      await settled();
      guard(() => writing.close());
      guard(() => reading.close());
    },
  };
}

/** Tries again and again while another process writes, without holding up the event loop. */
async function whileBusy<T>(lockWaitMs: number, work: () => T): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waits * LOCK_POLL_MS > lockWaitMs) throw error;
      await setTimeout(Math.min(waits, LOCK_POLL_MS));
    }
  }
}

/**
 * Opens the file of a service, whose writes a thread makes: the event loop waits for no disk. Nothing else in this
 * process can write it. `startThread` gives it another writer that is spoken to in the same way.
 * @throws {store-unavailable}
 */
export function openThreadedDatabase(
  { path, ...options }: Omit<WritingThreadOptions, 'lockWaitMs'>,
  startThread: StartWritingThread = startWritingThread,
): SqliteDatabase & { opened: Promise<void> } {
  const reading = openConnection(path);
  reading.handle.pragma('query_only = ON');
  reading.waitAtMost(SERVICE_READ_WAIT_MS);
  const thread = startThread({ path, lockWaitMs: SERVICE_LOCK_WAIT_MS, ...options });
  const { transaction, settled } = createTransactions(thread.ask, reading);
  return {
    ...createDatabase(reading, transaction),
    opened: thread.opened,
    truncateWal: async () => (await thread.ask({ kind: 'truncate-log' })) as boolean,
    close: async () => {
      await settled();
      await thread.close();
      guard(() => reading.close());
    },
  };
}

function createDatabase(
  reading: Connection,
  transaction: Transact,
): Omit<SqliteDatabase, 'truncateWal' | 'close'> {
  /** Looked at once for all reads of one turn of the event loop, at its end: cheap enough for every request. */
  const dataVersion = createNextTurnFlight(async () => guard(() => reading.version()));
  const looks = new Set<() => void>();
  return {
    ...createReads(reading),
    run: (...statement) => transaction((tx) => tx.run(...statement)),
    insert: (...rows) => transaction((tx) => tx.insert(...rows)),
    exec: (sql) => transaction((tx) => tx.exec(sql)),
    handle: reading.handle,
    transaction,
    exclusive: async (work) => {
      const result = await transaction(work);
      for (const look of looks) look();
      return result;
    },
    dataVersion,
    listen: (_channel, onNotified) => watchVersion(dataVersion, looks, onNotified),
  };
}

/** Runs each statement at once; that its caller waits for it is the other engine's need. */
export function createReads(reading: StatementRunner): Reads {
  return {
    all: async (sql, values = {}) =>
      guard(() => toRows(reading.all(sql, toStoredValues(sql, values)))) as never[],
    get: async (sql, values = {}) =>
      guard(() => toRows(reading.get(sql, toStoredValues(sql, values))))[0] as never,
  };
}

/** Nobody tells what another process wrote: the version of the file says that it did. */
function watchVersion(
  dataVersion: () => Promise<number>,
  looks: Set<() => void>,
  onChanged: () => void,
): Listening {
  let seen: number | undefined;
  const look = async (): Promise<void> => {
    const now = await dataVersion();
    if (now === seen) return;
    seen = now;
    onChanged();
  };
  const lookNow = (): void => void look().catch(() => undefined);
  looks.add(lookNow);
  const timer = setInterval(lookNow, LOOK_EVERY_MS).unref();
  return {
    close: async () => {
      looks.delete(lookNow);
      clearInterval(timer);
    },
  };
}
