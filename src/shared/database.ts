import { TrackportError } from './errors.ts';
import type { RowsInto } from './sql.ts';

/** Values by the name of their parameter; undefined is NULL. Those that a statement does not name are passed over. */
export type Values = Readonly<Record<string, unknown>>;

/** Statements that only read. */
export type Reads = {
  all<Row>(sql: string, values?: Values): Promise<Row[]>;
  /** The first row. */
  get<Row>(sql: string, values?: Values): Promise<Row | undefined>;
};

/**
 * Runs statements with named parameters (`@name`), written as PostgreSQL has them; SQLite's dialect reads the
 * same text. The columns of rows come in camel case, and a row lacks those that are NULL. Every call throws
 * `store-unavailable` when the store fails.
 */
export type Statements = Reads & {
  /** Returns how many rows were changed. */
  run(sql: string, values?: Values): Promise<number>;
  /** Adds rows, their properties named as the columns in camel case; one that is missing is NULL. */
  insert(into: RowsInto, rows: readonly object[]): Promise<void>;
  /** Several statements without parameters, which may take as long as they need. */
  exec(sql: string): Promise<void>;
};

declare const inTransaction: unique symbol;

/**
 * The statements of one transaction. Those that are asked for before any of them is awaited (`Promise.all`, `send`) take
 * one way to the engine, in their order, and so do the last ones and the commit. When one fails, the transaction is not
 * committed. The mark keeps `Database` out, where a write that nobody waits for may fail unseen.
 */
export type Tx = Statements & { readonly [inTransaction]: true };

/** Has the transaction change something, and waits for nothing: the change takes the way of what comes behind it. */
export function send(tx: Tx, sql: string, values?: Values): void {
  void tx.run(sql, values);
}

/** Has the transaction add rows, and waits for nothing. */
export function sendRows(tx: Tx, into: RowsInto, rows: readonly object[]): void {
  void tx.insert(into, rows);
}

/** Runs `work` in one transaction. */
export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * Port: the store. `adapters/sqlite` and `adapters/postgres` implement it. A statement outside of a transaction is
 * one of its own.
 */
export type Database = Statements & {
  /**
   * Runs `work` in one transaction and resolves when the disk has it. Rejects with what `work` threw, and then nothing
   * was changed. `work` decides and writes, and does nothing else: it may be run again, must not wait for anything but
   * `tx`, and must not begin another transaction. One in which nothing was asked for 2 s is rolled back and rejected.
   * @throws {store-unavailable} nothing was committed, or nobody can know
   */
  transaction: Transact;
  /**
   * A transaction for what writes events, claims or the lead directory. Whoever does takes turns with all others,
   * of every instance: what is read cannot change before the commit, and changes come into the lead feed in the
   * order in which they are committed.
   */
  exclusive: Transact;
  /**
   * Calls `onNotified` after each NOTIFY on the channel, and whenever one may have been missed. Close it before
   * the database.
   */
  listen(channel: string, onNotified: () => void): Listening;
  /** Another number whenever anybody may have committed something since the last one. Cheap. @throws {store-unavailable} */
  dataVersion(): Promise<number>;
  /** Takes what was deleted out of every file of the store. False: not now, try again. */
  truncateWal(): Promise<boolean>;
  /** Waits for what was asked for. Idempotent. */
  close(): Promise<void>;
};

/** Idempotent. */
export type Listening = { close(): Promise<void> };

/** For the result of a statement: one that nobody waits for fails with its transaction, and not as an unhandled rejection. */
export function withoutWarning<T>(result: Promise<T>): Promise<T> {
  result.catch(() => undefined);
  return result;
}

/** Failure of a store: `detail` is public, `cause` comes from its driver or the file system. */
export function unavailable(detail: string, cause?: unknown): TrackportError {
  return new TrackportError('store-unavailable', { detail, retryAfterSeconds: 1, cause });
}

/** A store that no later try will open: somebody has to name another one, or to stop who has it. */
export class StoreRefusal extends TrackportError {
  constructor(detail: string) {
    super('store-unavailable', { detail });
  }
}

export const BUSY = 'The store is busy with another process.';
