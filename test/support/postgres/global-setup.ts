import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '#adapters/postgres/connection/database.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { silentLog } from '#shared/log.ts';
import { startPostgres } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port on 127.0.0.1 where the run's PostgreSQL is told. */
    postgresDoor: number;
  }
}

/** The server of a run: its address, and the name of a database with the newest schema and nothing in it. */
export type RunServer = { url: string; template: string };

/**
 * One PostgreSQL server for a run of the tests: the one that `TRACKPORT_TEST_POSTGRES_URL` names, else the run's own.
 * That is started when the first test asks for it, so that runs without such a test do not wait for one, and stopped
 * at the end.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let server: Promise<RunServer & { stop(): Promise<void> }> | undefined;
  const open = async () => {
    const { TRACKPORT_TEST_POSTGRES_URL: named } = process.env;
    const own = named === undefined ? await startPostgres() : undefined;
    const url = own?.url ?? named ?? '';
    const template = await makeTemplate(url, `${databasePrefix(port)}template`);
    return { url, template, stop: async () => own?.stop() };
  };
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    server ??= open();
    server.then(
      ({ url, template }) => socket.end(JSON.stringify({ url, template })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  provide('postgresDoor', port);
  return async () => {
    door.close();
    await (await server?.catch(() => undefined))?.stop();
    await dropDatabases(port);
  };
}

async function makeTemplate(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.href });
  await migrate({ database, log: silentLog });
  await database.close();
  return name;
}

/** With what the names of a run's databases begin. */
export const databasePrefix = (door: number): string => `trackport_${door}_`;

/** A server that goes on after the run keeps nothing of it. */
async function dropDatabases(door: number): Promise<void> {
  const { TRACKPORT_TEST_POSTGRES_URL: connectionString } = process.env;
  if (connectionString === undefined) return;
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
    [databasePrefix(door)],
  );
  for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await client.end();
}
