import type { Database as Handle, Statement } from 'better-sqlite3';
import { toCamelCase } from '../../store/session.ts';
import type { Session, Values } from '../../store/session.ts';
import { toSqlite } from './dialect.ts';
import { guard } from './errors.ts';

/** Statements that stay prepared at most: those with filters are many. */
const PREPARED_MAX = 300;

/** `columns` as the rows have them. */
type Prepared = { statement: Statement<[object]>; columns: readonly string[] };

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
        const { statement, columns } = prepare(sql);
        return statement
          .all(bind(values))
          .map((row) => toRow(row as unknown[], columns)) as never[];
      }),
    get: async (sql, values = {}) =>
      guard(() => {
        const { statement, columns } = prepare(sql);
        const row = statement.get(bind(values)) as unknown[] | undefined;
        return row && (toRow(row, columns) as never);
      }),
    run: async (sql, values = {}) => guard(() => prepare(sql).statement.run(bind(values)).changes),
    exec: async (sql) => void guard(() => handle.exec(toSqlite(sql))),
  };
}

function prepareOn(handle: Handle, sql: string): Prepared {
  const statement = handle.prepare<[object]>(toSqlite(sql));
  if (!statement.reader) return { statement, columns: [] };
  const columns = statement.columns().map(({ name }) => toCamelCase(name));
  return { statement: statement.raw(), columns };
}

/** A list is read by `json_each`; there are no booleans. */
function bind(values: Values): object {
  if (!Object.values(values).some(isUnknown)) return values;
  const bound = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value)
      ? JSON.stringify(value)
      : typeof value === 'boolean'
        ? Number(value)
        : value,
  ]);
  return Object.fromEntries(bound);
}

function isUnknown(value: unknown): boolean {
  return Array.isArray(value) || typeof value === 'boolean';
}

function toRow(cells: readonly unknown[], columns: readonly string[]): object {
  const row: Record<string, unknown> = {};
  for (let at = 0; at < cells.length; at += 1) row[columns[at] as string] = cells[at];
  return row;
}
