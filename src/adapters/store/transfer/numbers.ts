import { either, type Session } from '../session.ts';

type Numbered = { table: string; column: string; last: number | null };

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
export async function passNumbersOn(source: Session, target: Session): Promise<void> {
  const given = await source.all<Numbered>(NUMBERED);
  const lastOf = new Map(given.map(({ table, last }) => [table, last ?? 0]));
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
