/** Copies of a store from SQLite to PostgreSQL: the tables that both have, and rows of any size. */
import type { OnProgress } from '#shared/progress.ts';
import { cutTerms } from '#catalog/reading/search.ts';
import { type Statements, unavailable } from '#shared/database.ts';
import { either, rowsInto, toCamelCase } from '#shared/sql.ts';
import { TrackportError } from '#shared/errors.ts';

/** A table as both engines have it. */
export type Table = {
  name: string;
  /** Those that are stored, with what PostgreSQL calls their type; generated ones follow from them. */
  columns: readonly { name: string; type: string }[];
  /** Columns of the primary key. */
  key: readonly string[];
};

export type TableCount = { table: string; rows: number };

type CopyRequest = {
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

/** Tables of a database's own and of its running processes, and one that a trigger makes anew. */
const NOT_COPIED = new Set([
  'migration',
  'event_lead',
  'worker_lease',
  'change_batch',
  'write_check',
]);
/** The full text of versions. */
const CUT_ANEW = 'terms';

type ColumnRow = { table: string; column: string; type: string; keyPosition?: number };

const COLUMNS = either(
  `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type,
    array_position(k.conkey, a.attnum) AS key_position
  FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY c.relname COLLATE "C", a.attnum`,
  `SELECT t.name AS "table", c.name AS "column", 'text' AS type, c.pk AS key_position
  FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
  WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND c.hidden = 0
  ORDER BY t.name, c.cid`,
);

const REFERENCES = `
  SELECT f.relname AS from, t.relname AS to
  FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
  WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND f.oid <> t.oid`;

/** Every stored column of what a copy takes over, by the database's own schema, in the order of its table's name. */
async function listColumns(db: Statements): Promise<ColumnRow[]> {
  const rows = await db.all<ColumnRow>(COLUMNS);
  return rows.filter(({ table, column }) => !NOT_COPIED.has(table) && column !== CUT_ANEW);
}

/**
 * The tables that a copy takes over, by the schema of PostgreSQL, in the order in which rows can be inserted: whoever
 * refers to another comes after it, else by name.
 */
export async function listTables(postgres: Statements): Promise<Table[]> {
  const references = await postgres.all<{ from: string; to: string }>(REFERENCES);
  const tables = Map.groupBy(await listColumns(postgres), ({ table }) => table);
  const ordered = new Set<string>();
  const add = (name: string): void => {
    if (ordered.has(name)) return;
    for (const { from, to } of references) if (from === name) add(to);
    ordered.add(name);
  };
  for (const name of tables.keys()) add(name);
  return [...ordered].map((name) => toTable(name, tables.get(name) ?? []));
}

function toTable(name: string, rows: readonly ColumnRow[]): Table {
  const key = rows
    .filter(({ keyPosition }) => keyPosition !== undefined)
    .toSorted((left, right) => (left.keyPosition ?? 0) - (right.keyPosition ?? 0));
  return {
    name,
    columns: rows.map(({ column, type }) => ({ name: column, type })),
    key: key.map(({ column }) => column),
  };
}

/**
 * Holds two engines' schemas of the same version against each other, so that no table and no column is
 * left behind. @throws {bad-request} they differ: somebody else made a table or a column there
 */
export async function refuseDifference(one: Statements, other: Statements): Promise<void> {
  const [here, there] = [await namesIn(one), await namesIn(other)];
  const different = [...here, ...there].filter((name) => !here.has(name) || !there.has(name));
  if (different.length > 0)
    throw new TrackportError('bad-request', {
      detail: `Only one of the stores has ${different.join(', ')}: a copy would lose it. What Trackport did not make has to be moved out, on PostgreSQL to another schema.`,
    });
}

async function namesIn(db: Statements): Promise<Set<string>> {
  const columns = await listColumns(db);
  return new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]));
}

async function countRows(db: Statements, name: string): Promise<number> {
  const row = await db.get<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`);
  return row?.rows ?? 0;
}

/** A start fills it again: whoever started a new store once has lost nothing with it. */
const REFILLED = [
  'directory_key',
  'directory_lead',
  'directory_state',
  'lead_change',
  'secret_key',
  'tracker_repository',
];

/** Of one row, which the migrations write. */
const COUNTERS = ['access_version', 'claim_version'];

/** Those of an empty store that may have rows. */
const replacedTables: ReadonlySet<string> = new Set([...REFILLED, ...COUNTERS]);

/**
 * Refuses a store with rows in any other table than a first start writes.
 * @throws {store-unavailable} with what to do: `advice`
 */
export async function refuseUnlessEmpty(db: Statements, advice: string): Promise<void> {
  const full: string[] = [];
  for (const name of new Set((await listColumns(db)).map(({ table }) => table)))
    if (!replacedTables.has(name) && (await countRows(db, name)) > 0) full.push(name);
  if (full.length > 0) throw unavailable(`The store is not empty (${full.join(', ')}). ${advice}`);
}
