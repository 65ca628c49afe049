import type { Database, Statement } from 'better-sqlite3';
import { canonicalJson } from '#shared/store/transfer/table.ts';
import type { ColumnKind, ReadableStore, Row, Table, Value } from '#shared/store/transfer/table.ts';
import { insertRows } from '../../store/transfer/rows.ts';
import { guard } from '../connection/errors.ts';
import { createSession } from '../connection/session.ts';
import { columnOf, quote } from './tables.ts';

/** What is handed on at once. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_ROWS_MAX = 500;

type Stored = null | number | string | Buffer;

/** Reads tables of a file that nobody writes. */
export function createReader(handle: Database): ReadableStore {
  return {
    count: async ({ name }) =>
      guard(
        () =>
          handle
            .prepare(`SELECT COUNT(*) FROM ${quote(name)}`)
            .pluck()
            .get() as number,
      ),
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
  const names = columns.map((column) => columnOf(handle, name, column.name)).join(', ');
  return handle
    .prepare<[], readonly Stored[]>(
      `SELECT ${names} FROM ${quote(name)} ORDER BY ${key.map((column) => columnOf(handle, name, column)).join(', ')}`,
    )
    .raw();
}

/** Puts rows in, whatever case the columns of their table have. */
export function createInserter(
  handle: Database,
): (table: Table, rows: readonly Row[]) => Promise<void> {
  const session = createSession(handle);
  const tables = new Map<string, Table>();
  return (table, rows) => {
    const stored = tables.get(table.name) ?? asStored(handle, table);
    tables.set(table.name, stored);
    return insertRows(session, stored, rows);
  };
}

function asStored(handle: Database, table: Table): Table {
  const columns = table.columns.map(({ name, kind }) => ({
    name: columnOf(handle, table.name, name).slice(1, -1),
    kind,
  }));
  return { ...table, columns };
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
