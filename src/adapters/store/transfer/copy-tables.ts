import type { OnProgress } from '#shared/report.ts';
import { cutTerms } from '../artifact/search.ts';
import { either, type Session, toCamelCase, unavailable } from '../session.ts';
import { createTableDigest, type TableDigest } from './digest.ts';
import { type ColumnKind, countRows, replacedTables, type Table } from './tables.ts';

export type CopyRequest = {
  /** Of a store that nobody works on. */
  source: Session;
  /** Of an empty one, in one transaction. */
  target: Session;
  /** In the order in which rows can be inserted. */
  tables: readonly Table[];
  /** Told of rows that were copied, and then of those that were compared. */
  onProgress: OnProgress;
};

/**
 * Copies the tables, and compares what was written with what was read.
 * @throws {store-unavailable} also when the copy is not as the source is
 */
export async function copyTables(request: CopyRequest): Promise<TableDigest[]> {
  const { source, target, tables } = request;
  const advance = await startProgress(request);
  for (const name of replacedTables) await target.run(`DELETE FROM "${name}"`);
  const copied: TableDigest[] = [];
  for (const table of tables)
    copied.push(
      await digestRows(source, table, async (rows) => {
        await insertRows(target, table, rows);
        advance(rows.length, `copying ${table.name}`);
      }),
    );
  await cutTerms(target);
  await passNumbersOn(source, target);
  // Else the first minutes of a service would be planned as if nothing was there.
  await target.exec(either(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`, 'SELECT 1'));
  for (const [at, table] of tables.entries()) {
    const found = await digestRows(target, table, (rows) =>
      advance(rows.length, `comparing ${table.name}`),
    );
    if (found.rows !== copied[at]?.rows || found.sha256 !== copied[at].sha256)
      throw unavailable(`The copy is not as the original is (${table.name}), and was dropped.`);
  }
  return copied;
}

type Advance = (rows: number, atHand: string) => void;

async function startProgress({ source, tables, onProgress }: CopyRequest): Promise<Advance> {
  let total = 0;
  for (const { name } of tables) total += 2 * (await countRows(source, name));
  let done = 0;
  return (rows, atHand) => {
    done += rows;
    onProgress(done, total, 'rows', atHand);
  };
}

async function digestRows(
  session: Session,
  table: Table,
  onRows: (rows: readonly Row[]) => Promise<void> | void,
): Promise<TableDigest> {
  const digest = createTableDigest(table.name);
  for await (const rows of readRows(session, table)) {
    for (const row of rows) digest.add(row);
    await onRows(rows);
  }
  return digest.end();
}

type Numbered = { table: string; column: string; last?: number };

/** Tables that give no number twice, each with the greatest that it ever gave out. */
const NUMBERED = either(
  `SELECT c.relname AS table, a.attname AS column,
    pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) AS last
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND a.attidentity <> '' AND NOT a.attisdropped`,
  `SELECT t.name AS "table", 'rowid' AS "column", s.seq AS last
  FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
  WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'`,
);

/** Numbers of the target go on behind all that were ever given out. */
async function passNumbersOn(source: Session, target: Session): Promise<void> {
  const former = await source.all<Numbered>(NUMBERED);
  const lastOf = new Map(former.map(({ table, last }) => [table, last]));
  for (const { table, column } of await target.all<Numbered>(NUMBERED)) {
    const last = lastOf.get(table) ?? 0;
    const greatest = `greatest(${last}, coalesce(max("${column}"), 0))`;
    await target.exec(
      either(
        `SELECT setval(pg_get_serial_sequence(quote_ident('${table}'), '${column}'), greatest(1, ${greatest}), ${greatest} > 0)
        FROM "${table}"`,
        `DELETE FROM sqlite_sequence WHERE name = '${table}';
        INSERT INTO sqlite_sequence (name, seq) SELECT '${table}', ${greatest} FROM "${table}"`,
      ),
    );
  }
}

type Value = null | number | boolean | string | Buffer;

/** The values of the table's columns. */
type Row = readonly Value[];

/** What is read at once, so that rows of any size fit into memory. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Rows of one statement: it may have 32,766 parameters on SQLite, and 65,535 on PostgreSQL. */
const PAGE_ROWS_MAX = 100;

/** All rows of a table that nobody writes, in the order of its key, some at a time. */
async function* readRows(session: Session, table: Table): AsyncGenerator<readonly Row[]> {
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
async function insertRows(
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
