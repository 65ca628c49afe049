import { once } from 'node:events';
import { BroadcastChannel } from 'node:worker_threads';
import { onTestFinished, vi } from 'vitest';
import * as program from '#shared/program.ts';
import { channelOf, CRASH, type Disturbance } from './channel.ts';

/** Until the running test ends, a writing thread that starts can be disturbed. */
export function letWritersBeDisturbed(): void {
  const { entryUrl } = program;
  const spy = vi
    .spyOn(program, 'entryUrl')
    .mockImplementation((module) =>
      module === 'adapters/sqlite/writing/thread-main'
        ? new URL('disturbed.ts', import.meta.url)
        : entryUrl(module),
    );
  onTestFinished(() => spy.mockRestore());
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
