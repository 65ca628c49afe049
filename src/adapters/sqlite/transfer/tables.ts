import { createTableDigest, type TableDigest } from '../../store/transfer/digest.ts';
import type { Database } from 'better-sqlite3';

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
export const MANIFEST_TABLE = 'backup_manifest';

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
export const schemaTable: Table = {
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
