/** Statements of a store as both engines have them: requests, and rows of cells. */
import { type Statements, type Values, withoutWarning } from '#shared/database.ts';
import { PARAMETER, type RowsInto } from '#shared/sql.ts';

/** A statement with values by name, or rows for a table. */
export type StatementRequest =
  | { kind: 'all' | 'get' | 'run'; sql: string; values: Values }
  | { kind: 'exec'; sql: string }
  | { kind: 'insert'; into: RowsInto; rows: readonly object[] };

/** Cells of each row in the order of `columns`, whose names are in camel case, and how many rows were changed. */
export type StatementResult = {
  columns: readonly string[];
  cells: readonly (readonly unknown[])[];
  changes: number;
};

export type RunStatement = (request: StatementRequest) => Promise<StatementResult>;

/** Statements of whoever runs their requests. */
export function createStatements(run: RunStatement): Statements {
  const ask = <T>(request: StatementRequest, read: (result: StatementResult) => T): Promise<T> =>
    withoutWarning(run(request).then(read));
  return {
    all: <Row>(sql: string, values: Values = {}) => ask({ kind: 'all', sql, values }, toRows<Row>),
    get: <Row>(sql: string, values: Values = {}) =>
      ask({ kind: 'get', sql, values }, (result) => toRows<Row>(result)[0]),
    run: (sql, values = {}) => ask({ kind: 'run', sql, values }, ({ changes }) => changes),
    insert: (into, rows) => ask({ kind: 'insert', into, rows }, () => undefined),
    exec: (sql) => ask({ kind: 'exec', sql }, () => undefined),
  };
}

/** Statements that are kept prepared at most, for each connection: those with filters are many. */
export const PREPARED_MAX = 300;

/** Makes of a statement once what is needed at each run of it. */
export function keepPrepared<T>(make: (sql: string) => T): (sql: string) => T {
  const known = new Map<string, T>();
  return (sql) => {
    const before = known.get(sql);
    if (before !== undefined) return before;
    const made = make(sql);
    if (known.size < PREPARED_MAX) known.set(sql, made);
    return made;
  };
}

/** Names of the values that a statement takes, by their first places in it. */
export const parametersOf = keepPrepared((sql): readonly string[] => [
  ...new Set(Array.from(sql.matchAll(PARAMETER), ([, name]) => name as string)),
]);

/** The value of a parameter. PostgreSQL's text has no NUL: it becomes U+FFFD in what is written and looked for, on both. */
export function valueOf(values: Values, name: string): unknown {
  if (!(name in values)) throw new Error(`no value for @${name}`);
  return withoutNul(values[name] ?? null);
}

export function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

/** A row lacks what is NULL. */
function toRows<Row>({ columns, cells }: StatementResult): Row[] {
  return cells.map((values) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < values.length; at += 1)
      if (values[at] !== null) row[columns[at] as string] = toBuffer(values[at]);
    return row as Row;
  });
}

/** Bytes that came from another thread are no `Buffer` any more. */
function toBuffer(cell: unknown): unknown {
  if (!(cell instanceof Uint8Array) || Buffer.isBuffer(cell)) return cell;
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}
