import type { Database } from 'better-sqlite3';
import type { OnProgress } from '#shared/progress.ts';
import type { TableDigest } from '../../store/transfer/digest.ts';
import { countRows, digestTable, listTables, MANIFEST_TABLE, schemaTable } from './tables.ts';

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
