/** Writes into a backup what it holds, and checks that it still does. */
import { createHash, type Hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { OnProgress } from '#shared/progress.ts';

/** A table as SQL has it, its names in quotes. */
type Table = {
  /** Without quotes. */
  name: string;
  source: string;
  /** Those that are stored; generated ones follow from them. */
  columns: string;
  /** The primary key, else all columns: the order that two stores agree on. */
  orderBy: string;
};

/** Table of a backup that says what the others hold. */
const MANIFEST_TABLE = 'backup_manifest';

const NAMES = `group_concat(format('"%w"', c.name), ', ' ORDER BY`;

const TABLES = `
  SELECT t.name, format('"%w"', t.name) AS source, ${NAMES} c.cid) AS columns,
    coalesce(${NAMES} c.pk) FILTER (WHERE c.pk > 0), ${NAMES} c.cid)) AS orderBy
  FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
  WHERE t.schema = 'main' AND t.type IN ('table', 'shadow')
    AND t.name NOT IN ('sqlite_schema', '${MANIFEST_TABLE}') AND c.hidden = 0
  GROUP BY t.name ORDER BY t.name`;

/** Tables of the file, those of the full-text search among them, by name. */
export function listTables(handle: Database): Table[] {
  return handle.prepare<[], Table>(TABLES).all();
}

/** The file's schema as one more table: a trigger that was lost or planted shows. */
const schemaTable: Table = {
  name: 'sqlite_schema',
  source: `sqlite_schema WHERE tbl_name <> '${MANIFEST_TABLE}'`,
  columns: 'type, name, tbl_name, sql',
  orderBy: 'type, name',
};

export function countRows(handle: Database): Map<string, number> {
  const count = (source: string): number =>
    handle.prepare<[], number>(`SELECT count(*) FROM ${source}`).pluck().get() ?? 0;
  return new Map(listTables(handle).map(({ name, source }) => [name, count(source)]));
}

/** One stored value of a row. Numbers without a fraction come as `bigint`. */
type Value = null | bigint | number | string | Buffer;

/** Digest of a table: the same for two of the same content. */
export type TableDigest = { table: string; rows: number; sha256: string };

/** Reads a whole table; `onRow` is told of each row. */
export function digestTable(handle: Database, table: Table, onRow?: () => void): TableDigest {
  const { name, source, columns, orderBy } = table;
  const rows = handle.prepare<[], readonly Value[]>(
    `SELECT ${columns} FROM ${source} ORDER BY ${orderBy}`,
  );
  const hash = createHash('sha256');
  let count = 0;
  for (const row of rows.raw().safeIntegers().iterate()) {
    addRow(hash, row);
    count += 1;
    onRow?.();
  }
  return { table: name, rows: count, sha256: hash.digest('hex') };
}

/** The texts of neighbours go together: each update has a price of its own. */
function addRow(hash: Hash, row: readonly Value[]): void {
  let text = '';
  for (const value of row) {
    if (!Buffer.isBuffer(value)) text += encode(value);
    else {
      hash.update(`${text}b${value.length}:`).update(value);
      text = '';
    }
  }
  hash.update(text);
}

/** Type and length go first, so that no two rows give the same bytes. */
function encode(value: Exclude<Value, Buffer>): string {
  if (value === null) return 'n;';
  if (typeof value === 'bigint') return `i${value};`;
  if (typeof value === 'number') return `r${value};`;
  return `t${Buffer.byteLength(value)}:${value}`;
}

const ROWS_A_REPORT = 10_000;

/** Reads every row; says every ten thousand how far it is. */
function digestAll(handle: Database, onProgress: OnProgress): TableDigest[] {
  const total = [...countRows(handle).values()].reduce((sum, count) => sum + count, 0);
  let done = 0;
  const digests = [schemaTable, ...listTables(handle)].map((table) =>
    digestTable(handle, table, () => {
      done += 1;
      if (done % ROWS_A_REPORT === 0) onProgress(done, total, 'rows checked');
    }),
  );
  onProgress(total, total, 'rows checked');
  return digests;
}

/** Time of a backup, and the version of the program that made it. */
export type BackupOrigin = { at: number; version: string };

type Manifest = BackupOrigin & { digests: TableDigest[] };

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
    .run(JSON.stringify({ ...origin, digests } satisfies Manifest));
  return digests;
}

/** Undefined: the file is no backup. */
export function readManifest(handle: Database): Manifest | undefined {
  const isThere = handle
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(MANIFEST_TABLE);
  if (isThere === undefined) return undefined;
  const content = handle.prepare<[], string>(`SELECT content FROM ${MANIFEST_TABLE}`).pluck().get();
  return content === undefined ? undefined : (JSON.parse(content) as Manifest);
}

/** Reads the whole file: the tables that are not as they were. @throws SQLite's errors where it cannot be read */
export function findAltered(
  handle: Database,
  { digests }: Manifest,
  onProgress: OnProgress,
): string[] {
  const found = new Set(digestAll(handle, onProgress).map(({ table, sha256 }) => table + sha256));
  return digests.flatMap(({ table, sha256 }) => (found.has(table + sha256) ? [] : [table]));
}

/** Takes the manifest out: what is left is a store. Returns how many rows it has. */
export function dropManifest(handle: Database): number {
  handle.exec(`DROP TABLE ${MANIFEST_TABLE}`);
  return [...countRows(handle).values()].reduce((sum, count) => sum + count, 0);
}
