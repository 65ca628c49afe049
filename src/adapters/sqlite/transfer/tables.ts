import type { Database } from 'better-sqlite3';
import type { OnProgress } from '#shared/progress.ts';
import { createTableDigest, type TableDigest } from '../../store/transfer/digest.ts';

/** A table as a transfer sees it: what it stores, and the order that two stores agree on. */
export type Table = {
  name: string;
  /** Those that are stored; generated ones follow from them. */
  columns: readonly string[];
  /** The primary key, else all columns. */
  orderBy: readonly string[];
};

/** One stored value of a row. Numbers without a fraction come as `bigint`. */
type Value = null | bigint | number | string | Buffer;

/** Where a backup stores what it holds. It is no part of what it describes. */
const MANIFEST_TABLE = 'backup_manifest';

/** Tables of the file, those of the full-text search among them, by name. */
export function listTables(handle: Database): Table[] {
  const names = handle
    .prepare<[string], string>(
      `SELECT name FROM pragma_table_list
       WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT IN ('sqlite_schema', ?)
       ORDER BY name`,
    )
    .pluck()
    .all(MANIFEST_TABLE);
  return names.map((name) => describeTable(handle, name));
}

/** What the file is made of, as one more table: a trigger that was lost or planted shows. */
const schemaTable: Table = {
  name: 'sqlite_schema',
  columns: ['type', 'name', 'tbl_name', 'sql'],
  orderBy: ['type', 'name'],
};

function describeTable(handle: Database, name: string): Table {
  const columns = handle
    .prepare<[string], { name: string; pk: number }>(
      'SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid',
    )
    .all(name);
  const key = columns.filter(({ pk }) => pk > 0).toSorted((left, right) => left.pk - right.pk);
  const nameOf = (column: { name: string }): string => column.name;
  return {
    name,
    columns: columns.map(nameOf),
    orderBy: (key.length > 0 ? key : columns).map(nameOf),
  };
}

/** How many rows each table has. */
export function countRows(handle: Database, tables: readonly Table[]): Map<string, number> {
  const count = ({ name }: Table): number =>
    handle
      .prepare<[], number>(`SELECT COUNT(*) FROM ${quote(name)}`)
      .pluck()
      .get() ?? 0;
  return new Map(tables.map((table) => [table.name, count(table)]));
}

/** The rows in the order of the primary key, each as the values of `columns`. */
function rowsOf(
  handle: Database,
  { name, columns, orderBy }: Table,
): IterableIterator<readonly Value[]> {
  const where = name === schemaTable.name ? `WHERE tbl_name <> '${MANIFEST_TABLE}'` : '';
  return handle
    .prepare<[], readonly Value[]>(
      `SELECT ${quoteAll(columns)} FROM ${quote(name)} ${where} ORDER BY ${quoteAll(orderBy)}`,
    )
    .raw()
    .safeIntegers()
    .iterate();
}

/** Reads a whole table; `onRow` is told of each row. */
export function digestTable(handle: Database, table: Table, onRow?: () => void): TableDigest {
  const digest = createTableDigest(table.name);
  for (const row of rowsOf(handle, table)) {
    digest.add(row);
    onRow?.();
  }
  return digest.end();
}

/** The name as SQL takes it, whatever it is. */
function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The same of several, for a list. */
function quoteAll(names: readonly string[]): string {
  return names.map(quote).join(', ');
}

const ROWS_A_REPORT = 10_000;

/** When a backup was made and by which version of the program. */
export type BackupOrigin = { at: number; version: string };

/** Writes into a copy what it holds, for whoever restores it. Returns the digests of its tables. */
export function writeManifest(
  handle: Database,
  origin: BackupOrigin,
  onProgress: OnProgress,
): TableDigest[] {
  const digests = digestAll(handle, onProgress);
  handle.exec(`CREATE TABLE ${MANIFEST_TABLE} (content TEXT NOT NULL) STRICT`);
  handle
    .prepare(`INSERT INTO ${MANIFEST_TABLE} (content) VALUES (?)`)
    .run(JSON.stringify({ ...origin, digests }));
  return digests;
}

/** How a file compares with the manifest in it. */
export type Examination =
  | { kind: 'whole'; origin: BackupOrigin; rows: number }
  | { kind: 'no-backup' }
  | { kind: 'altered'; tables: readonly string[] };

/** Reads the whole file. @throws SQLite's errors where it cannot be read */
export function examine(handle: Database, onProgress: OnProgress): Examination {
  const content = readManifest(handle);
  if (content === undefined) return { kind: 'no-backup' };
  const { digests, ...origin } = JSON.parse(content) as BackupOrigin & { digests: TableDigest[] };
  const found = new Map(digestAll(handle, onProgress).map((digest) => [digest.table, digest]));
  const isSame = ({ table, rows, sha256 }: TableDigest): boolean => {
    const now = found.get(table);
    return now?.rows === rows && now.sha256 === sha256;
  };
  const altered = digests.filter((digest) => !isSame(digest)).map(({ table }) => table);
  if (altered.length > 0) return { kind: 'altered', tables: altered };
  const integrity = handle.pragma('integrity_check', { simple: true });
  if (integrity !== 'ok') return { kind: 'altered', tables: [] };
  return { kind: 'whole', origin, rows: rowsIn(digests) };
}

function rowsIn(digests: readonly TableDigest[]): number {
  const tables = digests.filter(({ table }) => table !== schemaTable.name);
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

/** Takes the manifest out: what is left is a store. */
export function dropManifest(handle: Database): void {
  handle.exec(`DROP TABLE ${MANIFEST_TABLE}`);
}

function readManifest(handle: Database): string | undefined {
  const exists = handle
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(MANIFEST_TABLE);
  if (exists === undefined) return undefined;
  return handle.prepare<[], string>(`SELECT content FROM ${MANIFEST_TABLE}`).pluck().get();
}

/** Reads every row; says every ten thousand how far it is. */
function digestAll(handle: Database, onProgress: OnProgress): TableDigest[] {
  const tables = [schemaTable, ...listTables(handle)];
  const total = [...countRows(handle, tables).values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  const digests = tables.map((table) =>
    digestTable(handle, table, () => {
      done += 1;
      if (done % ROWS_A_REPORT === 0) onProgress(done, total, 'rows checked');
    }),
  );
  onProgress(total, total, 'rows checked');
  return digests;
}
