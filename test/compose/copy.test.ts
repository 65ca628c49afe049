import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { expect, test } from 'vitest';
import {
  type PostgresDatabase as Postgres,
  openDatabase as openPostgres,
} from '#adapters/postgres/database.ts';
import { openDatabase } from '#adapters/sqlite/database.ts';
import { cutTerms } from '#catalog/reading/search.ts';
import type { Statements } from '#shared/database.ts';
import {
  listTables as listCopiedTables,
  refuseDifference,
  type Table,
} from '#adapters/copy-tables.ts';
import { copyStore } from '#compose/store-maintenance.ts';
import { temporaryFolder } from '../support/folder.ts';
import { writeMigratedStore } from '../support/migrated-store.ts';
import { emptyPostgres, migratedPostgres } from '../support/postgres/database.ts';

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
function fillStore(handle: Database, tables: readonly Table[]): void {
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

const newFile = (): string => path.join(temporaryFolder(), 'data', 'trackport.db');

const copy = (from: string, to: string) => copyStore({ from, to, onProgress: () => undefined }, {});
const copyToServer = (file: string, url: string) => copy(`sqlite:${file}`, url);

async function onPostgres<T>(url: string, work: (database: Postgres) => Promise<T>): Promise<T> {
  const database = openPostgres({ url });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

function onFile<T>(file: string, work: (handle: BetterSqlite3.Database) => T): T {
  const handle = new BetterSqlite3(file);
  try {
    return work(handle);
  } finally {
    handle.close();
  }
}

function migratedFile(file = newFile()): string {
  mkdirSync(path.dirname(file));
  return writeMigratedStore(file);
}

/** The first filled file: the others are copies of it. */
let filled: Buffer | undefined;

async function filledFile(): Promise<string> {
  const file = migratedFile();
  if (filled) {
    writeFileSync(file, filled);
    return file;
  }
  const tables = await onPostgres((await migratedPostgres()).url, listCopiedTables);
  onFile(file, (handle) => fillStore(handle, tables));
  const database = openDatabase({ path: file });
  await cutTerms(database);
  database.handle.pragma('wal_checkpoint(TRUNCATE)');
  await database.close();
  filled = readFileSync(file);
  return file;
}

/** Every row of the tables that are copied, as one engine and the other have them. */
async function contentOf(session: Statements, tables: readonly Table[]): Promise<unknown> {
  const content: Record<string, unknown> = {};
  for (const { name, columns } of tables) {
    const names = columns.map((column) => column.name).join(', ');
    const rows = await session.all<object>(`SELECT ${names} FROM ${name}`);
    content[name] = rows.map((row) => JSON.stringify(mapValues(row))).toSorted();
  }
  return content;
}

/** PostgreSQL puts the members of an object in an order of its own. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, inOrder(member)] as const);
  return Object.fromEntries(members.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Truth is a number, and JSON a value. */
const mapValues = (row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'boolean'
        ? Number(value)
        : typeof value === 'string' && /^[[{]/.test(value)
          ? inOrder(JSON.parse(value))
          : value,
    ]),
  );

const countIn = (url: string, table: string): Promise<number | undefined> =>
  onPostgres(url, async (database) => {
    const row = await database.get<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
    return row?.rows;
  });

test('a store is the same after it went to PostgreSQL, row for row, and stays as it is', async () => {
  const file = await filledFile();
  const tables = await onPostgres((await migratedPostgres()).url, listCopiedTables);
  const read = async (): Promise<unknown> => {
    const source = openDatabase({ path: file });
    const content = await contentOf(source, tables);
    await source.close();
    return content;
  };
  const before = await read();
  const { url } = await emptyPostgres();
  const report = await copyToServer(file, url);
  expect(await read()).toEqual(before);
  expect(await onPostgres(url, (database) => contentOf(database, tables))).toEqual(before);
  expect(report.tables.filter(({ rows }) => rows === 0)).toEqual([]);
  expect(report.tables.map(({ table }) => table)).toEqual(tables.map(({ name }) => name));
  expect(report.rows).toBe(report.tables.reduce((sum, { rows }) => sum + rows, 0));
});

const refusal = (message: RegExp) =>
  expect.objectContaining({ message: expect.stringMatching(message) as string });

test('every table and column that one engine stores the other stores too', async () => {
  const { url } = await migratedPostgres();
  const file = openDatabase({ path: migratedFile() });
  await onPostgres(url, (database) => refuseDifference(database, file));
  expect((await onPostgres(url, listCopiedTables)).length).toBeGreaterThanOrEqual(20);
  await file.close();
});

test.each(['CREATE TABLE planted (id TEXT) STRICT', 'ALTER TABLE audit ADD COLUMN planted TEXT'])(
  'what one engine alone has is never left behind: %s',
  async (sql) => {
    const file = migratedFile();
    onFile(file, (handle) => handle.exec(sql));
    const { url } = await emptyPostgres();
    await expect(copyToServer(file, url)).rejects.toMatchObject({
      code: 'bad-request',
      detail: expect.stringMatching(/^Only one of the stores has .*planted/),
    });
    expect(await countIn(url, 'access_version')).toBe(1);
  },
);

test('NUL characters, which PostgreSQL has not, become what they become in what is written there', async () => {
  const file = await filledFile();
  onFile(file, (handle) => handle.exec("UPDATE event SET external_id = 'a' || char(0) || 'b'"));
  const { url } = await emptyPostgres();
  await copyToServer(file, url);
  expect(
    await onPostgres(url, (database) => database.all('SELECT DISTINCT external_id FROM event')),
  ).toEqual([{ externalId: 'a\uFFFDb' }]);
});

test('no number that was given out before is given out again', async () => {
  const file = await filledFile();
  onFile(file, (handle) => handle.exec('DELETE FROM claim WHERE id = 3'));
  const { url } = await emptyPostgres();
  await copyToServer(file, url);
  const next = (database: Postgres) =>
    database.get("SELECT nextval(pg_get_serial_sequence('claim', 'id')) AS claim");
  expect(await onPostgres(url, next)).toEqual({ claim: 4 });
});

test('keys come in the order in which they were made', async () => {
  const { url } = await emptyPostgres();
  await copyToServer(await filledFile(), url);
  const keys = await onPostgres(url, (database) =>
    database.all('SELECT key_id FROM api_key ORDER BY serial'),
  );
  expect(keys).toEqual([2, 3, 1].map((number) => ({ keyId: `api_key.key_id-${number}` })));
});

test('the copy has the full text of every version and artifact', async () => {
  const file = await filledFile();
  const { url } = await emptyPostgres();
  await copyToServer(file, url);
  const found = await onPostgres(url, (database) =>
    database.all("SELECT serial FROM catalog_version WHERE terms @@ '''title''' ORDER BY serial"),
  );
  expect(found).toEqual([1, 2, 3].map((serial) => ({ serial })));
});

test('a store that another process has open is not copied, nor filled', async () => {
  const file = await filledFile();
  const { url } = await migratedPostgres();
  const standby = openDatabase({ path: file });
  await expect(copyToServer(file, url)).rejects.toEqual(refusal(/has the store open/));
  await standby.close();
  const instance = openPostgres({ url });
  await instance.get('SELECT 1');
  await expect(copyToServer(file, url)).rejects.toEqual(
    refusal(/postgres:.* is in use: Trackport has 1 other connection/),
  );
  await instance.run("UPDATE worker_lease SET holder = 'a', until = now() + interval '15 s'");
  await instance.close();
  await expect(copyToServer(file, url)).rejects.toEqual(refusal(/wait \d+ seconds/));
});

test('a target that holds anything is refused, and keeps it', async () => {
  const file = await filledFile();
  const { url } = await emptyPostgres();
  await copyToServer(file, url);
  await expect(copyToServer(file, url)).rejects.toEqual(refusal(/not empty \(.*audit.*\)/));
  expect(await countIn(url, 'audit')).toBe(3);
});

test('a target that was started once and holds nothing but a directory is empty', async () => {
  const file = await filledFile();
  const { url } = await migratedPostgres();
  await onPostgres(url, (database) =>
    database.exec(`INSERT INTO tracker_repository VALUES ('acme/leads', 1, 1);
      INSERT INTO directory_key VALUES ('\\x00', 1, 1, 'email', 1)`),
  );
  await copyToServer(file, url);
  expect(await countIn(url, 'directory_key')).toBe(3);
});

test('a copy that lacks a row of the original is dropped', async () => {
  const file = await filledFile();
  const { url } = await migratedPostgres();
  await onPostgres(url, (database) =>
    database.exec(`
      CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER cut BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION cut()`),
  );
  await expect(copyToServer(file, url)).rejects.toEqual(
    refusal(/not as the original is \(audit\), and was dropped/),
  );
  expect(await countIn(url, 'receipt')).toBe(0);
  await onPostgres(url, (database) => database.exec('DROP FUNCTION cut CASCADE'));
});

test('a source of another schema is refused, and says what to do', async () => {
  const { url } = await emptyPostgres();
  const other = migratedFile();
  onFile(other, (handle) => handle.exec("UPDATE migration SET name = '0001_access'"));
  await expect(copyToServer(other, url)).rejects.toEqual(refusal(/begins with 0001_access/));
  const newer = migratedFile();
  onFile(newer, (handle) =>
    handle.exec("INSERT INTO migration VALUES (99, '0099_later', 'compatible', 1)"),
  );
  await expect(copyToServer(newer, url)).rejects.toEqual(refusal(/newer Trackport \(0099_later\)/));
  const missing = newFile();
  await expect(copyToServer(missing, url)).rejects.toEqual(refusal(/no such file/));
  expect(existsSync(missing)).toBe(false);
});
