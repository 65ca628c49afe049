/**
 * Stores of older versions, as they left them: each was made by the program of the commit that it is named by,
 * which imported the artifact `orders`, acted on deletions of leads 1 and 2 of four, and was stopped while one for
 * `later@example.org` waited.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { temporaryFolder } from '../../support/folder.ts';
import { emptyPostgres } from '../../support/postgres/database.ts';

/** What these stores were made with. */
export const SECRET_KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const MADE_AT = Date.parse('2026-11-24T09:49:00Z');
const INSTANT = /\b179\d{10}\b/g;

/** The store's address, and the key of its consumer `sales`. */
export async function openOldStore(name: string): Promise<{ storeUrl: string; key: string }> {
  const dump = readFileSync(path.join('test/fixtures/stores', `${name}.sql`), 'utf8');
  const age = Date.now() - MADE_AT; // what it holds is kept for so long and no longer
  const sql = dump.replaceAll(INSTANT, (instant) => String(Number(instant) + age));
  const [, key = ''] = /^-- key (\S+)/.exec(dump) ?? [];
  return { key, storeUrl: await (name.endsWith('.sqlite') ? inSqlite(sql) : inPostgres(sql)) };
}

async function inSqlite(sql: string): Promise<string> {
  const file = path.join(temporaryFolder(), 'trackport.db');
  const database = new Sqlite(file);
  database.unsafeMode().exec(sql); // a dump writes the schema of its search indexes itself
  database.close();
  return `sqlite:${file}`;
}

async function inPostgres(sql: string): Promise<string> {
  const { url } = await emptyPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
  return url;
}
