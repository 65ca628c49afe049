import type { Database as Handle, Statement } from 'better-sqlite3';
import { type Session, toCamelCase, type Values } from '../../store/session.ts';
import { toSqlite } from './dialect.ts';
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
