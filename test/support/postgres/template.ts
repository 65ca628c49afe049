import pg from 'pg';
import { openDatabase } from '#adapters/postgres/database.ts';
import { migrate } from '#adapters/postgres/server.ts';
import { silentLog } from '#shared/log.ts';

/** A server for many tests: its address, and the name of a database with the newest schema and nothing in it. */
export type RunServer = { url: string; template: string };

/** The address of another database of the same server. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Makes a database with the newest schema and nothing in it. Returns its name. */
export async function makeTemplate(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  await client.end();
  const database = openDatabase({ url: withDatabase(server, name) });
  await migrate({ database, log: silentLog });
  await database.close();
  return name;
}

/** Drops those whose names begin with `prefix`. */
export async function dropDatabases(server: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
    [prefix],
  );
  for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await client.end();
}
