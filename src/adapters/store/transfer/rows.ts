import type { Row, Table } from '#shared/store/transfer/table.ts';
import type { Session } from '../session.ts';

/** Rows of one statement: it may have 32,766 parameters on SQLite, and 65,535 on PostgreSQL. */
const INSERT_ROWS_MAX = 100;

/** How many rows the table has. */
export async function countRows(session: Session, name: string): Promise<number> {
  const row = await session.get<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`);
  return row?.rows ?? 0;
}

/** Puts rows in, a hundred with a statement. */
export async function insertRows(
  session: Session,
  table: Table,
  rows: readonly Row[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += INSERT_ROWS_MAX)
    await insertSome(session, table, rows.slice(at, at + INSERT_ROWS_MAX));
}

async function insertSome(
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
