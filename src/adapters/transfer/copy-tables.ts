import type { OnProgress } from '#shared/progress.ts';
import { cutTerms } from '#catalog/reading/search.ts';
import { type Statements, unavailable } from '#shared/database.ts';
import { rowsInto, toCamelCase } from '#shared/sql.ts';
import { countRows, replacedTables, type Table, type TableCount } from './tables.ts';

export type CopyRequest = {
  /** Of a SQLite store that nobody works on. */
  source: Statements;
  /** Of an empty one on PostgreSQL, in one transaction. */
  target: Statements;
  /** In the order in which rows can be inserted. */
  tables: readonly Table[];
  /** Told of rows that were copied. */
  onProgress: OnProgress;
};

/**
 * Copies the tables, and counts what is there then.
 * @throws {store-unavailable} also when the copy has not as many rows as the source
 */
export async function copyTables(request: CopyRequest): Promise<TableCount[]> {
  const { source, target, tables } = request;
  const advance = await startProgress(request);
  for (const name of replacedTables) await target.run(`DELETE FROM "${name}"`);
  const copied: TableCount[] = [];
  for (const table of tables) {
    let rows = 0;
    for await (const page of readRows(source, table)) {
      await target.insert(intoTable(table), page);
      rows += page.length;
      advance(page.length, `copying ${table.name}`);
    }
    copied.push({ table: table.name, rows });
  }
  for (const { table, rows } of copied)
    if ((await countRows(target, table)) !== rows)
      throw unavailable(`The copy is not as the original is (${table}), and was dropped.`);
  await cutTerms(target);
  await passNumbersOn(source, target);
  // Else the first minutes of a service would be planned as if nothing was there.
  await target.exec(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
  return copied;
}

type Advance = (rows: number, atHand: string) => void;

async function startProgress({ source, tables, onProgress }: CopyRequest): Promise<Advance> {
  let total = 0;
  for (const { name } of tables) total += await countRows(source, name);
  let done = 0;
  return (rows, atHand) => {
    done += rows;
    onProgress(done, total, 'rows', atHand);
  };
}

function intoTable({ name, columns }: Table) {
  return rowsInto(name, columns.map((column) => `${column.name} ${column.type}`).join(', '));
}

/** Each table that gives no number twice, with the greatest that it ever gave out. */
const GIVEN_OUT = 'SELECT name, seq AS last FROM sqlite_sequence';

const NUMBERED = `
  SELECT c.relname AS table, a.attname AS column
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND a.attidentity <> '' AND NOT a.attisdropped`;

/** Numbers of the target go on behind all that were ever given out. */
async function passNumbersOn(source: Statements, target: Statements): Promise<void> {
  const former = await source.all<{ name: string; last: number }>(GIVEN_OUT);
  const lastOf = new Map(former.map(({ name, last }) => [name, last]));
  for (const { table, column } of await target.all<{ table: string; column: string }>(NUMBERED)) {
    const greatest = `greatest(${lastOf.get(table) ?? 0}, coalesce(max("${column}"), 0))`;
    await target.exec(`
      SELECT setval(pg_get_serial_sequence(quote_ident('${table}'), '${column}'),
        greatest(1, ${greatest}), ${greatest} > 0) FROM "${table}"`);
  }
}

type Value = null | number | boolean | string | Buffer;

/** By the columns of its table in camel case, as `Statements` has it. */
type Row = Record<string, Value>;

/** Bounds of one read, so that rows of any size fit into memory. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_ROWS_MAX = 500;

/** All rows of a table that nobody writes, in the order of its key, some at a time. */
async function* readRows(source: Statements, table: Table): AsyncGenerator<readonly object[]> {
  const { name, columns, key } = table;
  const size = await pageSize(source, table);
  const order = key.map((column) => `"${column}"`).join(', ');
  const behind = `WHERE (${order}) > (${key.map((_, at) => `@k${at}`).join(', ')})`;
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  for (let last: Row | undefined; ;) {
    const found: Row[] = await source.all(
      `SELECT ${names} FROM "${name}" ${last ? behind : ''} ORDER BY ${order} LIMIT ${size}`,
      Object.fromEntries(key.map((column, at) => [`k${at}`, last?.[toCamelCase(column)]])),
    );
    last = found.at(-1);
    if (!last) return;
    yield found.map((row) => withJson(row, table));
  }
}

async function pageSize(source: Statements, { name, columns }: Table): Promise<number> {
  const sizes = columns.map((column) => `coalesce(octet_length("${column.name}"), 0)`);
  const row = await source.get<{ bytes?: number }>(
    `SELECT max(${sizes.join(' + ')}) AS bytes FROM "${name}"`,
  );
  const fitting = Math.floor(PAGE_BYTES / Math.max(1, row?.bytes ?? 1));
  return Math.max(1, Math.min(PAGE_ROWS_MAX, fitting));
}

/** SQLite has JSON as text. */
function withJson(row: Row, { columns }: Table): object {
  const parsed: Record<string, unknown> = { ...row };
  for (const { name, type } of columns) {
    const text = type === 'jsonb' ? row[toCamelCase(name)] : undefined;
    if (typeof text === 'string') parsed[toCamelCase(name)] = JSON.parse(text);
  }
  return parsed;
}
