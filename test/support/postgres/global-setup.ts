import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './server.ts';
import { dropDatabases, makeTemplate, type RunServer } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port on 127.0.0.1 where the run's PostgreSQL is told. */
    postgresDoor: number;
  }
}

/**
 * One PostgreSQL server for a run of the tests: the one that `TRACKPORT_TEST_POSTGRES_URL` names, else the run's own.
 * It is started when the first test asks for it, so that runs without such a test do not wait for one, and stopped
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
    // A server that goes on after the run keeps nothing of it.
    const { TRACKPORT_TEST_POSTGRES_URL: named } = process.env;
    if (named !== undefined) await dropDatabases(named, databasePrefix(port));
  };
}

/** With what the names of a run's databases begin. */
export const databasePrefix = (door: number): string => `trackport_${door}_`;
