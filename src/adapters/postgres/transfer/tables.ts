import type { ColumnKind, Table } from '#shared/store/transfer/table.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Session } from '../connection/database.ts';

/** What belongs to this database and its running instances, and not to what it stores. */
const NOT_COPIED = new Set(['migration', 'worker_lease', 'write_check']);

const KINDS: Readonly<Record<string, ColumnKind>> = {
  bigint: 'number',
  integer: 'number',
  boolean: 'boolean',
  text: 'text',
  'text[]': 'texts',
  jsonb: 'json',
  bytea: 'bytes',
};

/** Follows from other columns: it is made anew. */
const DERIVED = 'tsvector';

type ColumnRow = { table: string; column: string; type: string; keyPosition: number | null };

const COLUMNS = `
  SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type,
    array_position(k.conkey, a.attnum) AS key_position
  FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY c.relname COLLATE "C", a.attnum`;

const REFERENCES = `
  SELECT f.relname AS from, t.relname AS to
  FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
  WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND f.oid <> t.oid`;

/** The tables that a copy takes over, by the database's own schema. @throws {bad-request} */
export async function listTables(session: Session): Promise<Table[]> {
  const rows = await session.all<ColumnRow>(COLUMNS);
  const references = await session.all<{ from: string; to: string }>(REFERENCES);
  const tables = Map.groupBy(rows, ({ table }) => table);
  return inOrder([...tables.keys()], references)
    .filter((name) => !NOT_COPIED.has(name))
    .map((name) => toTable(name, tables.get(name) ?? []));
}

/** Whoever refers to another comes after it; else by name. */
function inOrder(
  names: readonly string[],
  references: readonly { from: string; to: string }[],
): string[] {
  const ordered = new Set<string>();
  const add = (name: string): void => {
    if (ordered.has(name)) return;
    for (const { from, to } of references) if (from === name) add(to);
    ordered.add(name);
  };
  for (const name of names) add(name);
  return [...ordered];
}

function toTable(name: string, rows: readonly ColumnRow[]): Table {
  const key = rows
    .filter(({ keyPosition }) => keyPosition !== null)
    .toSorted((left, right) => (left.keyPosition ?? 0) - (right.keyPosition ?? 0));
  return {
    name,
    columns: rows
      .filter(({ type }) => type !== DERIVED)
      .map(({ column, type }) => ({ name: column, kind: kindOf(name, type) })),
    key: key.map(({ column }) => column),
  };
}

function kindOf(table: string, type: string): ColumnKind {
  const kind = KINDS[type];
  if (kind === undefined)
    throw new TrackportError('bad-request', {
      detail: `The table ${table} has a column of the type ${type}, which Trackport has in none: move it to another schema.`,
    });
  return kind;
}
