/** The writing thread, with a way in for tests: see `disturbWriter`. */
import { BroadcastChannel, workerData } from 'node:worker_threads';
import type { Connection } from '#adapters/sqlite/connection.ts';
import { channelOf, CRASH, type Disturbance } from './channel.ts';

const channel = new BroadcastChannel(channelOf((workerData as { path: string }).path));
channel.unref();
let connection: Connection | undefined;
channel.addEventListener('message', (event) => {
  const { pragma } = (event as unknown as { data: Disturbance }).data;
  if (pragma === CRASH) throw new Error('a test wanted this');
  const value: unknown = connection?.handle.pragma(pragma, { simple: true });
  channel.postMessage({ done: value });
});
({ connection } = await import('#adapters/sqlite/writing/thread-main.ts'));
