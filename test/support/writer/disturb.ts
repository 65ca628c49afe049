import { once } from 'node:events';
import { BroadcastChannel } from 'node:worker_threads';

/** For `ServiceDeps`: a writing thread that can be disturbed. */
export const writerModule = new URL('disturbed.ts', import.meta.url);

/** In place of a pragma: the thread ends. */
export const CRASH = 'crash';

export type Disturbance = { pragma: string };

export function channelOf(storePath: string): string {
  return `disturb ${storePath}`;
}

/** Ends the thread that writes this file. */
export function crashWriter(storePath: string): void {
  const channel = new BroadcastChannel(channelOf(storePath));
  channel.postMessage({ pragma: CRASH } satisfies Disturbance);
  channel.close();
}

/** Sets a pragma on the connection that writes this file, and resolves with its value. */
export async function disturbWriter(storePath: string, pragma: string): Promise<unknown> {
  const channel = new BroadcastChannel(channelOf(storePath));
  try {
    const replied = once(channel, 'message');
    channel.postMessage({ pragma } satisfies Disturbance);
    const [{ data }] = (await replied) as [{ data: { done: unknown } }];
    return data.done;
  } finally {
    channel.close();
  }
}
