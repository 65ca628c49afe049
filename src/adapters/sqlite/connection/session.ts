import type { Database as Handle, Statement } from 'better-sqlite3';
import { type Session, toCamelCase, type Values } from '../../store/session.ts';
import { guard } from './errors.ts';

/** Statements that stay prepared at most: those with filters are many. */
const PREPARED_MAX = 300;

/** `columns` as the rows have them; those of `booleans` say whether something is so. */
type Prepared = {
  statement: Statement<[object]>;
  columns: readonly string[];
  booleans: readonly string[];
};

/** Runs each statement at once; that its caller waits for it is the other engine's need. */
export function createSession(handle: Handle): Session {
  const known = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    const before = known.get(sql);
    if (before) return before;
    const prepared = prepareOn(handle, sql);
    if (known.size < PREPARED_MAX) known.set(sql, prepared);
    return prepared;
  };
  return {
    all: async (sql, values = {}) =>
      guard(() => {
        const prepared = prepare(sql);
        const rows = prepared.statement.all(bind(values)) as unknown[][];
        return rows.map((row) => toRow(row, prepared)) as never[];
      }),
    get: async (sql, values = {}) =>
      guard(() => {
        const prepared = prepare(sql);
        const row = prepared.statement.get(bind(values)) as unknown[] | undefined;
        return row && (toRow(row, prepared) as never);
      }),
    run: async (sql, values = {}) => guard(() => prepare(sql).statement.run(bind(values)).changes),
    insert: async ({ one, properties }, rows) =>
      guard(() => {
        const { statement } = prepare(one);
        for (const row of rows as readonly Values[])
          statement.run(properties.map((name) => toStored(row[name] ?? null)));
      }),
    exec: async (sql) => void guard(() => handle.exec(toSqlite(sql))),
  };
}

function prepareOn(handle: Handle, sql: string): Prepared {
  const statement = handle.prepare<[object]>(toSqlite(sql));
  if (!statement.reader) return { statement, columns: [], booleans: [] };
  const columns = statement.columns().map(({ name }) => toCamelCase(name));
  const booleans = columns.filter((name) => /^(?:is|has)[A-Z]/.test(name));
  return { statement: statement.raw(), columns, booleans };
}

/** A list is read by `json_each`. Truth is a number, and text has no NUL, as in the other engine. */
function bind(values: Values): object {
  let bound: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(values)) {
    const stored = toStored(value);
    if (stored !== value) (bound ??= { ...values })[name] = stored;
  }
  return bound ?? values;
}

function toStored(value: unknown): unknown {
  if (Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

function toRow(cells: readonly unknown[], { columns, booleans }: Prepared): object {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < cells.length; at += 1)
    if (cells[at] !== null) row[columns[at] as string] = cells[at];
  for (const name of booleans) row[name] = row[name] === 1;
  return row;
}

/** How SQLite reads statements that are written for PostgreSQL. */

type Rule = readonly [pattern: RegExp, replacement: string];

/**
 * A comment that begins with `sqlite` is for this engine alone: an index that has to be used, a plus that
 * keeps a plan. So is the latter half of what `either` gives. One writer at a time needs no locks of rows.
 */
const RULES: readonly Rule[] = [
  [/\/\*postgres\*\/.*?\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\bFOR (?:NO KEY )?(?:UPDATE|KEY SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ''],
  [/= ANY\((@\w+)(?:::\w+\[\])?\)/g, 'IN (SELECT value FROM json_each($1))'],
  [
    /([\w.]+) @> ([@\w.]+)(?:::jsonb)?/g,
    'NOT EXISTS (SELECT 1 FROM json_each($2) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each($1)))',
  ],
  [/\bSELECT pg_advisory_xact_lock\(.*?\)|^NOTIFY \w+$/g, 'SELECT 1'],
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

/** The same statement in SQLite's words. */
export function toSqlite(sql: string): string {
  return RULES.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), sql).replaceAll(
    ROWS,
    (_match, parameter: string, name: string, columns: string) =>
      `(SELECT ${columns.split(',').map(toCell).join(', ')} FROM jsonb_each(${parameter})) AS ${name}`,
  );
}

/** Bytes are hexadecimal digits behind `\x`. */
function toCell(column: string): string {
  const [name = '', type] = column.trim().split(/\s+/);
  const cell = `value ->> '${name}'`;
  return `${type === 'bytea' ? `unhex(substr(${cell}, 3))` : cell} AS ${name}`;
}
