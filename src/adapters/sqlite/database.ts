import { setImmediate } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import type { Database, Transact } from '#shared/database.ts';
import { systemCodeOf } from '#shared/errors.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { type Connection, openConnection } from './connection.ts';
import { guard, translate } from './errors.ts';
import { createRunner, statementsOn, toStored } from './statements.ts';
import { readMigrationState, shippedMigrations } from '../migrations.ts';
import {
  createTransactions,
  type EngineTransaction,
  type InTurn,
  type StatementResult,
} from '../statements.ts';
import {
  type Ask,
  CHANGED_ELSEWHERE,
  ChangedElsewhere,
  createLocalWriter,
  startWritingThread,
  type Writer,
  type WritingThreadOptions,
} from './writing/writer.ts';

/** Reads on one connection, at once; writes on another one. No reader sees what is not committed. */
export type SqliteDatabase = Database & { readonly handle: BetterSqlite3.Database };

/** The connection that writes is in this thread. */
export type LocalDatabase = SqliteDatabase & { readonly writing: Connection };

/** Nobody tells what another process wrote: those who listen look. */
const LOOK_EVERY_MS = SECOND / 4;
/** Wait of a command's transactions for another process's lock. */
const LOCK_WAIT_MS = 5 * SECOND;
/**
 * Wait of a service's statement for another process's lock, and of all its readers with it. Commands and
 * migrations wait longer: nobody waits for them.
 */
const SERVICE_READ_WAIT_MS = 100;

/**
 * Refuses a file that another program began, before anything is opened that would write to it: the mode of the log is
 * in it.
 * @throws {store-unavailable}
 */
export async function refuseOtherFile(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const handle = guard(() => new BetterSqlite3(path, { readonly: true }));
  try {
    await readMigrationState(statementsOn(createRunner(handle)), shippedMigrations('sqlite'));
  } finally {
    handle.close();
  }
}

/**
 * Opens the file, readable by its owner only when it is new; its directory is created when it is missing.
 * Nothing is migrated: `applyMigrations` does that. Writes are made in this thread, which suits commands.
 * @throws {store-unavailable}
 */
export function openDatabase(
  { path }: { path: string },
  { lockWaitMs = LOCK_WAIT_MS }: { lockWaitMs?: number } = {},
): LocalDatabase {
  const reading = openConnection(path);
  const writing = openConnection(path);
  return { ...createDatabase(reading, createLocalWriter(writing, lockWaitMs)), writing };
}

/**
 * Opens the file of a service, whose writes a thread makes: the event loop waits for no disk. Nothing else in this
 * process can write it.
 * @throws {store-unavailable}
 */
export function openThreadedDatabase(options: WritingThreadOptions): SqliteDatabase {
  const reading = openConnection(options.path);
  reading.handle.pragma('query_only = ON');
  reading.waitAtMost(SERVICE_READ_WAIT_MS);
  return createDatabase(reading, startWritingThread(options));
}

/** A database of one connection that reads, and of whoever owns the one that writes. */
export function createDatabase(reading: Connection, writer: Writer): SqliteDatabase {
  const { ask } = writer;
  const { transaction, inTurn } = createWriting(ask, reading);
  /** Looked at once for all reads of one turn of the event loop, at its end: cheap enough for every request. */
  const dataVersion = createNextTurnFlight(async () => guard(() => reading.version()));
  const listeners = new Set<() => void>();
  return {
    ...statementsOn(reading),
    run: (...statement) => transaction((tx) => tx.run(...statement)),
    insert: (...rows) => transaction((tx) => tx.insert(...rows)),
    exec: (sql) => transaction((tx) => tx.exec(sql)),
    handle: reading.handle,
    transaction,
    exclusive: async (work) => {
      const result = await transaction(work);
      for (const onNotified of listeners) onNotified();
      return result;
    },
    dataVersion,
    listen: (_channel, onNotified) => {
      listeners.add(onNotified);
      const timer = setInterval(onNotified, LOOK_EVERY_MS).unref();
      const close = async (): Promise<void> => {
        listeners.delete(onNotified);
        clearInterval(timer);
      };
      return { close };
    },
    truncateWal: () => inTurn(async () => (await ask({ kind: 'truncate-log' })) as boolean),
    close: async () => {
      await inTurn(async () => undefined);
      await writer.close();
      guard(() => reading.close());
    },
  };
}

/** Statements on the event loop give way to others after so long. */
const LOOP_HELD_MAX_MS = 5;

/** Runs what the connection that writes is needed for, one after the other. */
function createWriting(ask: Ask, reading: Connection): { transaction: Transact; inTurn: InTurn } {
  const queue = createQueue();
  const fail = (error: unknown): never => {
    throw translate(error);
  };
  const inTurn: InTurn = (work) => queue(() => work().catch(fail));
  // Waits until it is open: from then on it notices what another process commits.
  void inTurn(() => ask({ kind: 'rollback' }));
  const isRetryable = (error: unknown) => systemCodeOf(error) === CHANGED_ELSEWHERE;
  const transactions = createTransactions({ isRetryable });
  return {
    inTurn,
    transaction: transactions(
      (run, tries) => run(begin(ask, tries === 1 ? reading : undefined)),
      inTurn,
    ),
  };
}

/**
 * Begins with the first write, in one message with it. What is read before needs no way to the connection that
 * writes: in this process nobody writes meanwhile, and when another process has, the transaction is refused, and
 * made once more without this.
 */
function begin(ask: Ask, reading?: Connection): EngineTransaction {
  let begun: Promise<unknown> | undefined;
  let hasRead = false;
  const giveWay = createGivingWay();
  const before = reading?.version();
  return {
    run: async (statement) => {
      const request = toStored(statement);
      if (reading && !begun && reading.isRead(request)) {
        hasRead = true;
        await giveWay();
        return reading.run(request);
      }
      begun ??= ask({ kind: 'begin', hasRead });
      return (await Promise.all([begun, ask(request)]))[1] as StatementResult;
    },
    commit: async () => {
      if (begun) await ask({ kind: 'commit' });
      else if (reading?.version() !== before) throw new ChangedElsewhere();
    },
    rollback: async () => {
      if (begun) await ask({ kind: 'rollback' });
    },
  };
}

/** Lets other work of the event loop through where it was held for long. */
function createGivingWay(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LOOP_HELD_MAX_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
