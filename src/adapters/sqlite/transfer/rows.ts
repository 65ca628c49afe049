import type { Database, Statement } from 'better-sqlite3';
import { canonicalJson } from '#shared/store/transfer/table.ts';
import type { ColumnKind, ReadableStore, Row, Table, Value } from '#shared/store/transfer/table.ts';
import { countRows } from '../../store/transfer/rows.ts';
import { guard } from '../connection/errors.ts';
import { createSession } from '../connection/session.ts';
import { quote, quoteAll } from './tables.ts';

/** What is handed on at once. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_ROWS_MAX = 500;

type Stored = null | number | string | Buffer;

/** Reads tables of a file that nobody writes. */
export function createReader(handle: Database): ReadableStore {
  const session = createSession(handle);
  return {
    count: ({ name }) => countRows(session, name),
    read: (table) => readTable(handle, table),
    lastNumbers: async () => guard(() => readLastNumbers(handle)),
  };
}

async function* readTable(handle: Database, table: Table): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of guard(() => prepareRead(handle, table).iterate())) {
    batch.push(row.map((value, at) => toValue(value, table.columns[at]?.kind)));
    bytes += bytesOf(row);
    if (bytes < BATCH_BYTES && batch.length < BATCH_ROWS_MAX) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function prepareRead(
  handle: Database,
  { name, columns, key }: Table,
): Statement<[], readonly Stored[]> {
  const names = quoteAll(columns.map((column) => column.name));
  return handle
    .prepare<[], readonly Stored[]>(`SELECT ${names} FROM ${quote(name)} ORDER BY ${quoteAll(key)}`)
    .raw();
}

/** PostgreSQL has no NUL in its text: stores that hold the same say the same about it. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

function toValue(stored: Stored, kind: ColumnKind | undefined): Value {
  if (kind === 'boolean' && typeof stored === 'number') return stored === 1;
  if (typeof stored !== 'string') return stored;
  if (kind === 'texts') return (JSON.parse(stored) as string[]).map(withoutNul);
  return kind === 'json' ? canonicalJson(stored) : withoutNul(stored);
}

function bytesOf(row: readonly Stored[]): number {
  let bytes = 0;
  for (const value of row)
    bytes += typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
  return bytes;
}

function readLastNumbers(handle: Database): Map<string, number> {
  const rows = handle
    .prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence')
    .raw()
    .all();
  return new Map(rows);
}

const NUMBERED =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";

/** Numbers go on behind all that were ever given out, where the schema gives none twice. */
export function setNumbers(handle: Database, lastNumbers: ReadonlyMap<string, number>): void {
  const former = readLastNumbers(handle);
  const remove = handle.prepare<[string]>('DELETE FROM sqlite_sequence WHERE name = ?');
  const put = handle.prepare<[string, number]>(
    'INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS INTEGER))', // it has no types
  );
  for (const name of handle.prepare<[], string>(NUMBERED).pluck().all()) {
    remove.run(name);
    put.run(name, Math.max(former.get(name) ?? 0, lastNumbers.get(name) ?? 0));
  }
}
