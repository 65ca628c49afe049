/** To be preloaded into a service: SIGUSR2 lets its writing thread crash. */
import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads';

const channel = new BroadcastChannel('let the writing thread crash');
channel.unref();

if (isMainThread) process.on('SIGUSR2', () => channel.postMessage('now'));
else if ((workerData as { path?: string }).path !== undefined)
  channel.addEventListener('message', () => {
    throw new RangeError('a test wanted this');
  });
