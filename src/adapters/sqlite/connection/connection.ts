import { statSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { SECOND } from '#shared/clock.ts';
import { BUSY, unavailable, type Values } from '#shared/database.ts';
import { PARAMETER, type RowsInto, toCamelCase } from '#shared/sql.ts';
import { toSqlite } from './dialect.ts';
import { guard } from './errors.ts';
import { createPlaceCheck, createPrivately, isFile, refuseMountedFile } from './store-file.ts';

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
  /** Commits what is begun. @throws {store-unavailable} the file is not in its place any more */
  commit: () => void;
  /** From now on a statement waits this many milliseconds for another process's lock; before, 5000. */
  waitAtMost(busyTimeoutMs: number): void;
  /**
   * Moves the write-ahead log into the database, as much as readers let it; `TRUNCATE` cuts it to nothing, so that
   * deleted content is in no file any more. False when another process stood in the way, call it later.
   * @see https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
   */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean;
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
  return {
    ...createStatements(handle),
    handle,
    version: () => version.get() ?? 0,
    commit: () => {
      refuseMoved();
      handle.exec('COMMIT');
    },
    waitAtMost: (busyTimeoutMs) => void handle.pragma(`busy_timeout = ${busyTimeoutMs}`),
    checkpoint: (mode) => {
      const [result] = handle.pragma(`wal_checkpoint(${mode})`) as { busy: number }[];
      return result?.busy === 0;
    },
    close: () => void handle.close(),
  };
}

/** Statements that stay prepared at most: those with filters are many. */
const PREPARED_MAX = 300;

/** The cells of each row in the order of `columns`; those of `booleans` say whether something is so. */
export type Rows = {
  columns: readonly string[];
  booleans: readonly string[];
  cells: readonly (readonly unknown[])[];
};

type Prepared = Omit<Rows, 'cells'> & { statement: BetterSqlite3.Statement<[object]> };

/** Runs statements on one connection, each at once. What it takes and gives can go to another thread. */
export type StatementRunner = {
  /** True for a statement that only reads. */
  isRead(sql: string): boolean;
  all(sql: string, values: Values): Rows;
  get(sql: string, values: Values): Rows;
  /** Returns how many rows were changed. */
  run(sql: string, values: Values): number;
  insert(sql: string, rows: readonly (readonly unknown[])[]): void;
  exec(sql: string): void;
};

export function createStatements(handle: BetterSqlite3.Database): StatementRunner {
  const known = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const before = known.get(sql);
    if (before) return before;
    const prepared = prepareOn(handle, sql);
    if (known.size < PREPARED_MAX) known.set(sql, prepared);
    return prepared;
  };
  return {
    isRead: (sql) => prepare(sql).statement.readonly,
    all: (sql, values) => {
      const { statement, ...names } = prepare(sql);
      return { ...names, cells: statement.all(values) as unknown[][] };
    },
    get: (sql, values) => {
      const { statement, ...names } = prepare(sql);
      const row = statement.get(values) as unknown[] | undefined;
      return { ...names, cells: row ? [row] : [] };
    },
    run: (sql, values) => prepare(sql).statement.run(values).changes,
    insert: (sql, rows) => {
      const { statement } = prepare(sql);
      for (const row of rows) statement.run(row);
    },
    exec: (sql) => void handle.exec(toSqlite(sql)),
  };
}

function prepareOn(handle: BetterSqlite3.Database, sql: string): Prepared {
  const statement = handle.prepare<[object]>(toSqlite(sql));
  if (!statement.reader) return { statement, columns: [], booleans: [] };
  const columns = statement.columns().map(({ name }) => toCamelCase(name));
  const booleans = columns.filter((name) => /^(?:is|has)[A-Z]/.test(name));
  return { statement: statement.raw(), columns, booleans };
}

const parameters = new Map<string, readonly string[]>();

/** Names of the values that a statement takes. */
function parametersOf(sql: string): readonly string[] {
  const known = parameters.get(sql);
  if (known) return known;
  const found = [...new Set(Array.from(sql.matchAll(PARAMETER), ([, name]) => name as string))];
  if (parameters.size < PREPARED_MAX) parameters.set(sql, found);
  return found;
}

/** Values of a statement as the connection takes them. A list is read by `json_each`. */
export function toStoredValues(sql: string, values: Values): Values {
  const stored: Record<string, unknown> = {};
  for (const name of parametersOf(sql)) {
    if (!(name in values)) throw new Error(`no value for @${name}`);
    stored[name] = toStored(values[name] ?? null);
  }
  return stored;
}

export function toStoredRows({ properties }: RowsInto, rows: readonly object[]): unknown[][] {
  return (rows as readonly Values[]).map((row) =>
    properties.map((name) => toStored(row[name] ?? null)),
  );
}

/** Truth is a number, and text has no NUL, as in the other engine. */
function toStored(value: unknown): unknown {
  if (Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

export function toRows<Row>({ columns, booleans, cells }: Rows): Row[] {
  return cells.map((row) => toRow(row, columns, booleans) as Row);
}

function toRow(
  cells: readonly unknown[],
  columns: readonly string[],
  booleans: readonly string[],
): object {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < cells.length; at += 1)
    if (cells[at] !== null) row[columns[at] as string] = toBuffer(cells[at]);
  for (const name of booleans) row[name] = row[name] === 1;
  return row;
}

/** Bytes that came from another thread are no `Buffer` any more. */
function toBuffer(cell: unknown): unknown {
  if (!(cell instanceof Uint8Array) || Buffer.isBuffer(cell)) return cell;
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}
