/**
 * A process that reads over keep-alive connections, one request at a time on each, and prints
 * `{ calls, refused, seconds, processorMs }`. Argument: a `ReadLoad` in JSON.
 */
import { performance } from 'node:perf_hooks';
import { sendAll } from '../webhooks/raw-sender.ts';
import type { ReadLoad } from './fleet.ts';

const load = JSON.parse(process.argv[2] ?? '') as ReadLoad;
const { urls, paths, key, connections, requests = Infinity, seconds = Infinity } = load;
const endsAt = performance.now() + seconds * 1000;
const messages = paths.map((path) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: ${key}\r\n\r\n`),
);
let made = 0;

function next(): Buffer | undefined {
  if (made >= requests || performance.now() >= endsAt) return undefined;
  made += 1;
  return messages[made % messages.length];
}

const share = Math.ceil(connections / urls.length);
const sent = await Promise.all(
  urls.map((url) => sendAll({ port: Number(new URL(url).port), connections: share, next })),
);
const { user, system } = process.cpuUsage();
const total = {
  calls: sent.reduce((sum, { calls }) => sum + calls, 0),
  refused: sent.reduce((sum, { refused }) => sum + refused, 0),
  seconds: Math.max(...sent.map(({ seconds }) => seconds)),
  processorMs: (user + system) / 1000,
};
process.stdout.write(`${JSON.stringify(total)}\n`);
