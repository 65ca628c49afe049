import type BetterSqlite3 from 'better-sqlite3';
import type { Statements, Values } from '#shared/database.ts';
import { toCamelCase } from '#shared/sql.ts';
import {
  createStatements,
  keepPrepared,
  parametersOf,
  type StatementRequest,
  type StatementResult,
  valueOf,
  withoutNul,
} from '../../statements.ts';
import { toSqlite } from './dialect.ts';
import { guard } from './errors.ts';

/** A request as a connection takes it, here or in another thread. */
export type StoredRequest =
  | Exclude<StatementRequest, { kind: 'insert' }>
  | { kind: 'insert'; sql: string; rows: readonly (readonly unknown[])[] };

/** Runs statements on one connection, each at once. */
export type StatementRunner = {
  /** True for a statement that only reads. */
  isRead(request: StoredRequest): boolean;
  run(request: StoredRequest): StatementResult;
};

type Prepared = {
  statement: BetterSqlite3.Statement<[object]>;
  columns: readonly string[];
  /** Places of the columns that say whether something is so. */
  booleans: readonly number[];
};

/** The statements of a connection, each prepared once. */
export function createRunner(handle: BetterSqlite3.Database): StatementRunner {
  const prepare = keepPrepared((sql) => prepareOn(handle, sql));
  return {
    isRead: ({ kind, sql }) =>
      (kind === 'all' || kind === 'get') && prepare(sql).statement.readonly,
    run: (request) => {
      if (request.kind === 'exec') handle.exec(toSqlite(request.sql));
      return request.kind === 'exec' ? NO_ROWS : runPrepared(prepare(request.sql), request);
    },
  };
}

const NO_ROWS: StatementResult = { columns: [], cells: [], changes: 0 };

function runPrepared(
  { statement, columns, booleans }: Prepared,
  request: Exclude<StoredRequest, { kind: 'exec' }>,
): StatementResult {
  if (request.kind === 'insert') {
    for (const row of request.rows) statement.run(row);
    return NO_ROWS;
  }
  const { kind, values } = request;
  if (kind === 'run') return { ...NO_ROWS, changes: statement.run(values).changes };
  const first = kind === 'get' ? statement.get(values) : undefined;
  const cells = (kind === 'all' ? statement.all(values) : first ? [first] : []) as unknown[][];
  for (const row of cells) for (const at of booleans) row[at] = row[at] === 1;
  return { ...NO_ROWS, columns, cells };
}

/** Runs each statement at once; that its caller waits for it is the other engine's need. */
export function statementsOn(runner: StatementRunner): Statements {
  return createStatements(async (request) => guard(() => runner.run(toStored(request))));
}

function prepareOn(handle: BetterSqlite3.Database, sql: string): Prepared {
  const statement = handle.prepare<[object]>(toSqlite(sql));
  if (!statement.reader) return { statement, columns: [], booleans: [] };
  const columns = statement.columns().map(({ name }) => toCamelCase(name));
  const booleans = [...columns.keys()].filter((at) => /^(?:is|has)[A-Z]/.test(columns[at] ?? ''));
  return { statement: statement.raw(), columns, booleans };
}

/** Takes of the values what the statement names. */
export function toStored(request: StatementRequest): StoredRequest {
  if (request.kind === 'exec') return request;
  if (request.kind === 'insert') {
    const { one: sql, properties } = request.into;
    const toCells = (row: Values) =>
      properties.map((name) => toCell(withoutNul(row[name] ?? null)));
    return { kind: 'insert', sql, rows: (request.rows as readonly Values[]).map(toCells) };
  }
  const { kind, sql } = request;
  const values: Record<string, unknown> = {};
  for (const name of parametersOf(sql)) values[name] = toCell(valueOf(request.values, name));
  return { kind, sql, values };
}

/** Truth is a number, and `json_each` reads a list. */
function toCell(value: unknown): unknown {
  if (Array.isArray(value)) return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : value;
}
