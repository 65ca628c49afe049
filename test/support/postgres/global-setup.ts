import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port on 127.0.0.1 where the address of the run's PostgreSQL is told. */
    postgresDoor: number;
  }
}

/**
 * One PostgreSQL server for a run of the tests. It is started when the first test asks for it, so
 * that runs without such a test do not wait for one, and stopped at the end.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    server ??= startPostgres();
    server.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
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
