import type { OnProgress } from '#shared/report.ts';
import { cutTerms } from '../artifact/search-terms.ts';
import { either, type Session } from '../session.ts';
import { unavailable } from '../unavailable.ts';
import { createTableDigest, type TableDigest } from './digest.ts';
import { replacedTables } from './empty.ts';
import { countRows, insertRows, readRows, type Row } from './rows.ts';
import type { Table } from './tables.ts';

export type CopyRequest = {
  /** Of a store that nobody works on. */
  source: Session;
  /** Of an empty one, in one transaction. */
  target: Session;
  /** In the order in which rows can be inserted. */
  tables: readonly Table[];
  /** Told of rows that were copied, and then of those that were compared. */
  onProgress: OnProgress;
};

/**
 * Copies the tables, and compares what was written with what was read.
 * @throws {store-unavailable} also when the copy is not as the source is
 */
export async function copyTables(request: CopyRequest): Promise<TableDigest[]> {
  const { source, target, tables } = request;
  const advance = await startProgress(request);
  for (const name of replacedTables) await target.run(`DELETE FROM "${name}"`);
  const copied: TableDigest[] = [];
  for (const table of tables)
    copied.push(
      await digestRows(source, table, async (rows) => {
        await insertRows(target, table, rows);
        advance(rows.length, `copying ${table.name}`);
      }),
    );
  await cutTerms(target);
  await passNumbersOn(source, target);
  // Else the first minutes of a service would be planned as if nothing was there.
  await target.exec(either(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`, 'SELECT 1'));
  for (const [at, table] of tables.entries()) {
    const found = await digestRows(target, table, (rows) =>
      advance(rows.length, `comparing ${table.name}`),
    );
    if (found.rows !== copied[at]?.rows || found.sha256 !== copied[at].sha256)
      throw unavailable(`The copy is not as the original is (${table.name}), and was dropped.`);
  }
  return copied;
}

type Advance = (rows: number, atHand: string) => void;

async function startProgress({ source, tables, onProgress }: CopyRequest): Promise<Advance> {
  let total = 0;
  for (const { name } of tables) total += 2 * (await countRows(source, name));
  let done = 0;
  return (rows, atHand) => {
    done += rows;
    onProgress(done, total, 'rows', atHand);
  };
}

async function digestRows(
  session: Session,
  table: Table,
  onRows: (rows: readonly Row[]) => Promise<void> | void,
): Promise<TableDigest> {
  const digest = createTableDigest(table.name);
  for await (const rows of readRows(session, table)) {
    for (const row of rows) digest.add(row);
    await onRows(rows);
  }
  return digest.end();
}

type Numbered = { table: string; column: string; last?: number };

/** Tables that give no number twice, each with the greatest that it ever gave out. */
const NUMBERED = either(
  `SELECT c.relname AS table, a.attname AS column,
    pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) AS last
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND a.attidentity <> '' AND NOT a.attisdropped`,
  `SELECT t.name AS "table", 'rowid' AS "column", s.seq AS last
  FROM sqlite_schema t LEFT JOIN sqlite_sequence s ON s.name = t.name
  WHERE t.type = 'table' AND t.sql LIKE '%AUTOINCREMENT%'`,
);

/** Numbers of the target go on behind all that were ever given out. */
async function passNumbersOn(source: Session, target: Session): Promise<void> {
  const given = await source.all<Numbered>(NUMBERED);
  const lastOf = new Map(given.map(({ table, last }) => [table, last]));
  for (const { table, column } of await target.all<Numbered>(NUMBERED)) {
    const last = lastOf.get(table) ?? 0;
    const greatest = `greatest(${last}, coalesce(max("${column}"), 0))`;
    await target.exec(
      either(
        `SELECT setval(pg_get_serial_sequence(quote_ident('${table}'), '${column}'), greatest(1, ${greatest}), ${greatest} > 0)
        FROM "${table}"`,
        `DELETE FROM sqlite_sequence WHERE name = '${table}';
        INSERT INTO sqlite_sequence (name, seq) SELECT '${table}', ${greatest} FROM "${table}"`,
      ),
    );
  }
}
