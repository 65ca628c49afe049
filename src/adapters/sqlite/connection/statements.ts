import type { Database as Handle, Statement } from 'better-sqlite3';
import type { Values } from '#shared/database.ts';
import { PARAMETER, type RowsInto, toCamelCase } from '#shared/sql.ts';
import { toSqlite } from './dialect.ts';

/** Statements that stay prepared at most: those with filters are many. */
const PREPARED_MAX = 300;

/** The cells of each row in the order of `columns`; those of `booleans` say whether something is so. */
export type Rows = {
  columns: readonly string[];
  booleans: readonly string[];
  cells: readonly (readonly unknown[])[];
};

type Prepared = Omit<Rows, 'cells'> & { statement: Statement<[object]> };

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

export function createStatements(handle: Handle): StatementRunner {
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

function prepareOn(handle: Handle, sql: string): Prepared {
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
