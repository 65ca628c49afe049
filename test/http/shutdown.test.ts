import { connect } from 'node:net';
import nock from 'nock';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp } from '../support/http/app.ts';

let app: HttpApp;
// It would stand between our socket and the server.
beforeAll(() => nock.restore());
afterEach(() => app.close());

test('closing lets a request in flight finish; what follows on its connection is sent elsewhere', async () => {
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  app = buildTestApp();
  app.get('/slow', async () => {
    arrived.resolve();
    await gate.promise;
    return { done: true };
  });
  const late = Promise.withResolvers<void>();
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const ended = Promise.withResolvers<string>();
  let received = '';
  const socket = connect(Number(port), '127.0.0.1')
    .on('data', (chunk) => (received += chunk.toString()))
    .on('error', ended.reject)
    .on('close', () => ended.resolve(received));
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived.promise;
  app.server.once('request', () => late.resolve());
  const closed = app.close();
  socket.write('GET /problems/overloaded HTTP/1.1\r\nHost: a\r\n\r\n');
  await late.promise;
  gate.resolve();
  await closed;
  const [first = '', second = ''] = (await ended.promise).split(/(?=HTTP\/1\.1 503)/);
  expect(first).toContain('HTTP/1.1 200');
  expect(first).toContain('{"done":true}');
  expect(second).toMatch(/retry-after: 1\r\n/i);
  expect(second).toMatch(/connection: close\r\n/i);
  expect(second).toContain('"code":"overloaded"');
});
