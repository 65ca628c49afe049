import type { Database } from 'better-sqlite3';
import type { Table } from '#adapters/transfer/tables.ts';

const ROWS = 3;

/** Values that are worth a try, or must fit another column: one value for each row. One alone: one row. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  'access_version.id': [1],
  'claim_version.one': [1],
  'secret_key.one': [1],
  'api_key.serial': [7, 3, 5], // not in the order of their names
  'api_key.replaced_by': [null, 'api_key.key_id-3', null],
  'audit.changes': ['{"name":"Ä\\u0000"}', null, '{"b":1,"a":[]}'],
  'catalog_version.members': [null, '["One","two"]', '[]'],
  'catalog_version.artifact_serial': [1, 1, 2],
  'catalog_version.is_listed': [0, 1, 1],
  'catalog_artifact.listed_serial': [2, 3, null],
  'consumer_grant.labels': ['["Zoë","a\\"b"]', null, '[]'],
  'event.receipt': [1, 1, 3],
  'event.outcome': ['PENDING', 'FAILED', 'DONE'],
  'event.due_at': [9, null, null],
  'event.completed_at': [null, 10, 11],
  'event.lead_ids': [null, '["12","7"]', '[]'],
  'event.progress': ['{"leads":[{"number":7,"state":"open"}],"stage":"act"}', null, null],
};

/** Fills each table of a SQLite store with a few rows, by what its schema says of its columns. */
export function fillStore(handle: Database, tables: readonly Table[]): void {
  for (const table of tables) {
    const { name, columns } = table;
    handle.exec(`DELETE FROM ${name}`);
    const makers = columns.map((column) => makerOf(handle, name, column));
    const isSingle = columns.some((column) => VALUES[`${name}.${column.name}`]?.length === 1);
    const names = columns.map((column) => column.name);
    const insert = handle.prepare(
      `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    handle.transaction(() => {
      for (let row = 0; row < (isSingle ? 1 : ROWS); row += 1)
        insert.run(...makers.map((make) => make(row)));
    })();
  }
}

function makerOf(
  handle: Database,
  table: string,
  { name, type }: Table['columns'][number],
): (row: number) => unknown {
  const given = VALUES[`${table}.${name}`];
  if (given) return (row) => given[row];
  const words = wordsOf(handle, table, name);
  if (words.length > 0) return (row) => words[row % words.length];
  const target = handle
    .prepare<[string, string], string>(
      `SELECT "table" || '.' || "to" FROM pragma_foreign_key_list(?) WHERE "from" = ?`,
    )
    .pluck()
    .get(table, name);
  return (row) => makeValue(target ?? `${table}.${name}`, type, row);
}

/** Those that a check lets pass. */
function wordsOf(handle: Database, table: string, column: string): string[] {
  const schema = handle
    .prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?')
    .pluck()
    .get(table);
  const check = new RegExp(`CHECK \\(${column} IN \\(('[^)]*)\\)`).exec(schema ?? '')?.[1] ?? '';
  return [...check.matchAll(/'([^']*)'/g)].map(([, word = '']) => word);
}

function makeValue(column: string, type: string, row: number): unknown {
  const number = row + 1;
  if (type === 'boolean') return row % 2;
  if (type === 'text') return `${column}-${number}`;
  if (type === 'jsonb') return JSON.stringify({ number, z: true });
  return type === 'bytea' ? Buffer.alloc(32, number) : number;
}
