import type BetterSqlite3 from 'better-sqlite3';
import { type Statements, type Values, withoutWarning } from '#shared/database.ts';
import { PARAMETER, toCamelCase } from '#shared/sql.ts';
import { toSqlite } from './dialect.ts';
import { guard } from './errors.ts';

/** Statements that stay prepared at most: those with filters are many. */
const PREPARED_MAX = 300;

/** The cells of each row in the order of `columns`; those of `booleans` say whether something is so. */
type Rows = {
  columns: readonly string[];
  booleans: readonly string[];
  cells: readonly (readonly unknown[])[];
};

type Prepared = Omit<Rows, 'cells'> & { statement: BetterSqlite3.Statement<[object]> };

/** A statement, and what goes into it: values by name, or rows. It can go to another thread, as can its response. */
export type StatementRequest =
  | { kind: 'all' | 'get' | 'run' | 'exec'; sql: string; values: Values }
  | { kind: 'insert'; sql: string; rows: readonly (readonly unknown[])[] };

/** Runs statements on one connection, each at once. Rows for `all` and `get`, their number that were changed for `run`. */
export type StatementRunner = {
  /** True for a statement that only reads. */
  isRead(request: StatementRequest): boolean;
  run(request: StatementRequest): unknown;
};

/** The statements of a connection, each prepared once. */
export function createRunner(handle: BetterSqlite3.Database): StatementRunner {
  const known = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const before = known.get(sql);
    if (before) return before;
    const prepared = prepareOn(handle, sql);
    if (known.size < PREPARED_MAX) known.set(sql, prepared);
    return prepared;
  };
  return {
    isRead: ({ kind, sql }) =>
      (kind === 'all' || kind === 'get') && prepare(sql).statement.readonly,
    run: (request) => {
      if (request.kind === 'exec') return void handle.exec(toSqlite(request.sql));
      const { statement, ...names } = prepare(request.sql);
      switch (request.kind) {
        case 'all':
          return { ...names, cells: statement.all(request.values) };
        case 'get': {
          const row = statement.get(request.values);
          return { ...names, cells: row === undefined ? [] : [row] };
        }
        case 'run':
          return statement.run(request.values).changes;
        case 'insert':
          for (const row of request.rows) statement.run(row);
      }
    },
  };
}

/** Statements of whoever runs their requests. */
export function createStatements(
  run: (make: () => StatementRequest) => Promise<unknown>,
): Statements {
  const read = async <Row>(kind: 'all' | 'get', sql: string, values: Values): Promise<Row[]> =>
    toRows<Row>((await run(() => ({ kind, sql, values: toStoredValues(sql, values) }))) as Rows);
  const get = async <Row>(sql: string, values: Values) => (await read<Row>('get', sql, values))[0];
  const change = async (sql: string, values: Values) =>
    (await run(() => ({ kind: 'run', sql, values: toStoredValues(sql, values) }))) as number;
  const insert: Statements['insert'] = async ({ one, properties }, rows) => {
    const toCells = (row: Values) => properties.map((name) => toStored(row[name] ?? null));
    await run(() => ({ kind: 'insert', sql: one, rows: (rows as readonly Values[]).map(toCells) }));
  };
  const exec = async (sql: string) => void (await run(() => ({ kind: 'exec', sql, values: {} })));
  return {
    all: (sql, values = {}) => withoutWarning(read('all', sql, values)),
    get: (sql, values = {}) => withoutWarning(get(sql, values)),
    run: (sql, values = {}) => withoutWarning(change(sql, values)),
    insert: (into, rows) => withoutWarning(insert(into, rows)),
    exec: (sql) => withoutWarning(exec(sql)),
  };
}

/** Runs each statement at once; that its caller waits for it is the other engine's need. */
export function statementsOn(runner: StatementRunner): Statements {
  return createStatements(async (make) => guard(() => runner.run(make())));
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
function toStoredValues(sql: string, values: Values): Values {
  const stored: Record<string, unknown> = {};
  for (const name of parametersOf(sql)) {
    if (!(name in values)) throw new Error(`no value for @${name}`);
    stored[name] = toStored(values[name] ?? null);
  }
  return stored;
}

/** Truth is a number, and text has no NUL, as in the other engine. */
function toStored(value: unknown): unknown {
  if (Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

function toRows<Row>({ columns, booleans, cells }: Rows): Row[] {
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
