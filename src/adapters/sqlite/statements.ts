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
} from '../statements.ts';
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

/**
 * A comment that begins with `sqlite` is for this engine alone: an index that has to be used, a plus that
 * keeps a plan. So is the latter half of what `either` gives. One writer at a time needs no locks of rows.
 */
const RULES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\/\*postgres\*\/.*?\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\bFOR (?:NO KEY )?(?:UPDATE|KEY SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ''],
  [/= ANY\((@\w+)(?:::\w+\[\])?\)/g, 'IN (SELECT value FROM json_each($1))'],
  [
    /([\w.]+) @> ([@\w.]+)(?:::jsonb)?/g,
    'NOT EXISTS (SELECT 1 FROM json_each($2) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each($1)))',
  ],
  [/^NOTIFY \w+$/g, 'SELECT 1'],
  [/= true\b/g, '= 1'],
  [/\barray_to_tsvector\(string_to_array\(([@.\w]+), ' '\)\)/g, '$1'],
  [/\bgreatest\(/g, 'max('],
  [/\bleast\(/g, 'min('],
  [/\bjsonb_array_elements_text\(/g, 'json_each('],
  [/\bjsonb_array_length\(/g, 'json_array_length('],
  [/\bjsonb_agg\(/g, 'json_group_array('],
  [/\bjsonb_build_object\(/g, 'json_object('],
  [/::\w+(?:\[\])?/g, ''],
];

const ROWS = /jsonb_to_recordset\((@\w+)\)\s+AS (\w+)\s+\(([^)]*)\)/g;

/** Turns a statement of PostgreSQL into SQLite's words. */
export function toSqlite(sql: string): string {
  return RULES.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), sql).replaceAll(
    ROWS,
    (_match, parameter: string, name: string, columns: string) =>
      `(SELECT ${columns.split(',').map(toSelected).join(', ')} FROM jsonb_each(${parameter})) AS ${name}`,
  );
}

/** Bytes are hexadecimal digits behind `\x`. */
function toSelected(column: string): string {
  const [name = '', type] = column.trim().split(/\s+/);
  const cell = `value ->> '${name}'`;
  return `${type === 'bytea' ? `unhex(substr(${cell}, 3))` : cell} AS ${name}`;
}
