import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './server.ts';
import type { PostgresServer } from './server.ts';

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
  provide('postgresDoor', (door.address() as AddressInfo).port);
  return async () => {
    door.close();
    await (await server?.catch(() => undefined))?.stop();
  };
}
