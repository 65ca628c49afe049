import { canonicalJson } from '#shared/store/transfer/table.ts';
import type { ReadableStore, Row, Table, Value } from '#shared/store/transfer/table.ts';
import { toCamelCase } from '../../store/session.ts';
import type { Session } from '../../store/session.ts';
import { countRows } from '../../store/transfer/rows.ts';

/** What is read at once, so that rows of any size fit into memory. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS_MAX = 1000;

/** Reads tables in the transaction of the session. */
export function createReader(session: Session): ReadableStore {
  return {
    count: ({ name }) => countRows(session, name),
    read: (table) => readTable(session, table),
    lastNumbers: () => readLastNumbers(session),
  };
}

async function* readTable(session: Session, table: Table): AsyncGenerator<readonly Row[]> {
  const { name, columns, key } = table;
  const size = await batchSize(session, name);
  await session.run(`DECLARE "copy_${name}" NO SCROLL CURSOR FOR
    SELECT ${columns.map((column) => `"${column.name}"`).join(', ')} FROM "${name}"
    ORDER BY ${key.map((column) => orderOf(table, column)).join(', ')}`);
  for (;;) {
    const sql = `FETCH ${size} FROM "copy_${name}"`;
    const found = await session.all<Record<string, Value>>(sql);
    if (found.length === 0) break;
    yield found.map((row) =>
      columns.map(({ name, kind }) => toValue(row[toCamelCase(name)] ?? null, kind)),
    );
  }
  await session.run(`CLOSE "copy_${name}"`);
}

async function batchSize(session: Session, name: string): Promise<number> {
  const row = await session.get<{ bytes: number | null }>(
    `SELECT max(octet_length(one::text)) AS bytes FROM "${name}" one`,
  );
  const fitting = Math.floor(BATCH_BYTES / Math.max(1, row?.bytes ?? 1));
  return Math.max(1, Math.min(BATCH_ROWS_MAX, fitting));
}

/** Text in the order of its bytes, as other engines have it. */
function orderOf({ columns }: Table, name: string): string {
  const isText = columns.find((column) => column.name === name)?.kind === 'text';
  return isText ? `"${name}" COLLATE "C"` : `"${name}"`;
}

function toValue(value: Value, kind: Table['columns'][number]['kind']): Value {
  return kind === 'json' && typeof value === 'string' ? canonicalJson(value) : value;
}

type Sequence = { table: string; column: string; sequence: string };

const SEQUENCES = `
  SELECT c.relname AS table, a.attname AS column,
    pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    AND a.attidentity <> '' AND NOT a.attisdropped`;

async function readLastNumbers(session: Session): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  for (const { table, sequence } of await session.all<Sequence>(SEQUENCES)) {
    const row = await session.get<{ last: number | null }>(
      `SELECT CASE WHEN is_called THEN last_value END AS last FROM ${sequence}`,
    );
    if (row?.last) last.set(table, row.last);
  }
  return last;
}

/** Numbers go on behind all that were ever given out. */
export async function setNumbers(
  session: Session,
  lastNumbers: ReadonlyMap<string, number>,
): Promise<void> {
  for (const { table, column, sequence } of await session.all<Sequence>(SEQUENCES))
    await session.get(
      `SELECT setval('${sequence}', greatest(1, @last, coalesce(max("${column}"), 0)),
         greatest(@last, coalesce(max("${column}"), 0)) > 0) FROM "${table}"`,
      { last: lastNumbers.get(table) ?? 0 },
    );
}
