/** Runs statements for a thread that waits for them meanwhile. */
import { type MessagePort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { types } from '#adapters/postgres/pool.ts';
import type { Asked } from './asking.ts';

const { port, answered } = workerData as { port: MessagePort; answered: Int32Array };
const clients = new Map<string, Promise<pg.Client>>();

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, types });
  client.on('error', () => undefined);
  client.on('end', () => clients.delete(url)); // its database was dropped
  return client.connect();
}

async function answer({ url, sql, values }: Asked): Promise<object> {
  const client = clients.get(url) ?? connect(url);
  clients.set(url, client);
  try {
    return { rows: (await (await client).query(sql, [...values])).rows as unknown[] };
  } catch (error) {
    return { error };
  }
}

async function serve(asked: Asked): Promise<void> {
  port.postMessage(await answer(asked));
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

port.on('message', (asked: Asked) => void serve(asked));
