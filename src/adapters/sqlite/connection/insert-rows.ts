import type { Database as Handle } from 'better-sqlite3';

/** What a column can be bound to. */
export type Value = string | number | Buffer | null;

/** So many rows go in one statement: the most that fit, then the next fewer. */
const ROWS_AT_ONCE = [32, 8, 1];

/**
 * Inserts rows with a few statements, however many they are: starting one costs as much as several
 * rows. Values are in the order of the columns.
 */
export function createRowInserter(
  handle: Handle,
  table: string,
  columns: readonly string[],
): (rows: readonly (readonly Value[])[]) => void {
  const row = `(${columns.map(() => '?').join(', ')})`;
  const statements = ROWS_AT_ONCE.map((size) => {
    const values = Array.from({ length: size }, () => row).join(', ');
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values}`;
    return { size, insert: handle.prepare<[Value[]]>(sql) };
  });
  return (rows) => {
    let at = 0;
    for (const { size, insert } of statements)
      for (; rows.length - at >= size; at += size) insert.run(rows.slice(at, at + size).flat());
  };
}
