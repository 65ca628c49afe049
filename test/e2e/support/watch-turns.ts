/**
 * To be preloaded into a service: at SIGUSR2 it tells on standard error how much processor time the longest
 * turn of its event loop took since it was asked before, in ms. The time of its main thread alone: neither other
 * programs nor threads beside it change it.
 */
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 1;

if (isMainThread) {
  let longest = 0;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  };
  setInterval(look, EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    look();
    process.stderr.write(`longest turn: ${longest}\n`);
    longest = 0;
  });
}
