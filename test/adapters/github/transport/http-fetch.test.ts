import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';

import { httpFetch } from '#adapters/github/transport/http-fetch.ts';
import { startServer } from '../support.ts';
import type { LocalServer } from '../support.ts';

const TEXT = JSON.stringify({ title: 'Ärger, größer als ein Stück'.repeat(100) });
const GET = { method: 'GET', headers: {} };

let server: LocalServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

test('reads what the tracker has compressed, which it asks for', async () => {
  server = await startServer((request, response) => {
    const isAsked = request.headers['accept-encoding'] === 'gzip';
    response.setHeader('content-encoding', isAsked ? 'gzip' : 'identity');
    response.end(isAsked ? gzipSync(TEXT) : TEXT);
  });
  const { status, headers, text } = await httpFetch(server.url, GET);
  expect(status).toBe(200);
  expect(headers.get('content-encoding')).toBe('gzip');
  await expect(text()).resolves.toBe(TEXT);
});

test('fails when a compressed body breaks off', async () => {
  server = await startServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '1000' });
    response.write(gzipSync(TEXT).subarray(0, 30));
    setImmediate(() => response.destroy());
  });
  const { text } = await httpFetch(server.url, GET);
  await expect(text()).rejects.toThrow();
});

test('ends with the reason of its signal, also in the middle of a body', async () => {
  server = await startServer((_, response) => {
    response.writeHead(200).write('{');
  });
  const cut = new AbortController();
  const { text } = await httpFetch(server.url, { ...GET, signal: cut.signal });
  const reading = text();
  const reason = new DOMException('over', 'TimeoutError');
  cut.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await expect(httpFetch(server.url, { ...GET, signal: cut.signal })).rejects.toBe(reason);
});

test('sends a text with its length, and none where there is none', async () => {
  const lengths: unknown[] = [];
  server = await startServer((request, response) => {
    lengths.push(request.headers['content-length']);
    request.resume().once('end', () => response.writeHead(204).end());
  });
  for (const body of ['{"ü":1}', undefined])
    await httpFetch(server.url, { method: 'POST', headers: {}, body });
  expect(lengths).toEqual(['8', '0']);
});
