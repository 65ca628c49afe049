import { either, type Session, toCamelCase } from '../session.ts';
import type { ColumnKind, Table } from './tables.ts';

type Value = null | number | boolean | string | Buffer;

/** The values of the table's columns. */
export type Row = readonly Value[];

/** What is read at once, so that rows of any size fit into memory. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Rows of one statement: it may have 32,766 parameters on SQLite, and 65,535 on PostgreSQL. */
const PAGE_ROWS_MAX = 100;

/** How many rows the table has. */
export async function countRows(session: Session, name: string): Promise<number> {
  const row = await session.get<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`);
  return row?.rows ?? 0;
}

/** All rows of a table that nobody writes, in the order of its key, some at a time. */
export async function* readRows(session: Session, table: Table): AsyncGenerator<readonly Row[]> {
  const { name, columns, key } = table;
  const size = await pageSize(session, table);
  const order = key.map((column) => orderOf(table, column)).join(', ');
  const behind = `WHERE (${order}) > (${key.map((_, at) => `@k${at}`).join(', ')})`;
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  for (let last: Record<string, Value> | undefined; ;) {
    const found: Record<string, Value>[] = await session.all(
      `SELECT ${names} FROM "${name}" ${last ? behind : ''} ORDER BY ${order} LIMIT ${size}`,
      Object.fromEntries(key.map((column, at) => [`k${at}`, last?.[toCamelCase(column)]])),
    );
    last = found.at(-1);
    if (!last) return;
    yield found.map((row) =>
      columns.map((column) => toValue(row[toCamelCase(column.name)] ?? null, column.kind)),
    );
  }
}

async function pageSize(session: Session, { name, columns }: Table): Promise<number> {
  const sizes = columns.map((column) => `coalesce(octet_length("${column.name}"::text), 0)`);
  const row = await session.get<{ bytes?: number }>(
    `SELECT max(${sizes.join(' + ')}) AS bytes FROM "${name}"`,
  );
  const fitting = Math.floor(PAGE_BYTES / Math.max(1, row?.bytes ?? 1));
  return Math.max(1, Math.min(PAGE_ROWS_MAX, fitting));
}

/** Text in the order of its bytes. */
function orderOf({ columns }: Table, name: string): string {
  const isText = columns.find((column) => column.name === name)?.kind === 'text';
  return isText ? `"${name}" ${either('COLLATE "C"', '')}` : `"${name}"`;
}

/** PostgreSQL has no NUL in its text: stores that hold the same say the same about it. */
function toValue(value: Value, kind: ColumnKind): Value {
  if (kind === 'boolean') return value === null ? null : Boolean(value);
  if (typeof value !== 'string') return value;
  return kind === 'json' ? canonicalJson(value) : value.replaceAll('\0', '\uFFFD');
}

/** JSON text with the members of its objects in order, so that equal values are equal texts. */
function canonicalJson(text: string): string {
  return JSON.stringify(JSON.parse(text, (_name, value: unknown) => inOrder(value)));
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Puts the rows of a page in. */
export async function insertRows(
  session: Session,
  { name, columns }: Table,
  rows: readonly Row[],
): Promise<void> {
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  const tuples = rows.map((row, at) => `(${row.map((_, place) => `@p${at}_${place}`).join(', ')})`);
  const values = rows.flatMap((row, at) =>
    row.map((value, place) => [`p${at}_${place}`, value] as const),
  );
  await session.run(
    `INSERT INTO "${name}" (${names}) VALUES ${tuples.join(', ')}`,
    Object.fromEntries(values),
  );
}
