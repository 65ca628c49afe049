import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import nock from 'nock';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { drain } from '#compose/stop.ts';
import { type ServerLoad, watchLoad } from '#http/server-load.ts';
import { createFakeClock } from '../support/clock.ts';

// It would stand between our sockets and the server.
beforeAll(() => nock.restore());

type Open = { server: Server; port: number; load: ServerLoad };

async function open(onRequest: RequestListener): Promise<Open> {
  const server = createServer({ keepAliveTimeout: 60_000 }, onRequest);
  const load = watchLoad(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  return { server, port: (server.address() as AddressInfo).port, load };
}

/** Reads all that comes over a connection on which this was sent; it ends with the connection. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    connect(port, '127.0.0.1')
      .on('data', (chunk) => (received += chunk.toString()))
      .on('error', reject)
      .on('close', () => resolve(received))
      .write(text);
  });
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const done = Promise.resolve();

test('who connects at the moment of a stop gets a response, and no reset', async () => {
  const { server, port, load } = await open((_request, response) => response.end('served'));
  const responses = Array.from({ length: 50 }, () => exchange(port, get('/')));
  await drain({ clock: systemClock, delayMs: 0, load, work: done });
  server.close();
  server.closeIdleConnections();
  for (const response of await Promise.all(responses)) expect(response).toContain('served');
});

test('who waits at the port of a process that wakes late gets a response, and no reset', async () => {
  const { server, port, load } = await open((_request, response) => response.end('served'));
  const responses = Array.from({ length: 5 }, () => exchange(port, get('/')));
  // They connect in the next tick, and nothing is accepted before the event loop turns.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const lateClock = { ...systemClock, sleep: (): Promise<void> => Promise.resolve() };
  await drain({ clock: lateClock, delayMs: 0, load, work: done });
  server.close();
  server.closeIdleConnections();
  for (const response of await Promise.all(responses)) expect(response).toContain('served');
});

test('the delay is served to its end, and so is what is in flight then, within 6 s', async () => {
  const arrived = Promise.withResolvers<void>();
  const { port, load } = await open(() => arrived.resolve());
  const clock = createFakeClock();
  const onDeadline = vi.fn();
  const draining = drain({ clock, delayMs: 30_000, load, work: done });
  void draining.then(onDeadline);
  await clock.advance(29_999);
  const left = exchange(port, get('/'));
  await arrived.promise;
  await clock.advance(1);
  for (let passed = 20; passed < 6000; passed += 20) await clock.advance(20);
  expect(onDeadline).not.toHaveBeenCalled();
  await clock.advance(20);
  expect(await draining).toBe(1000 + 30_000 + 8000);
  left.catch(() => undefined);
});

test('the port stays open until the work is done', async () => {
  const { load } = await open(() => undefined);
  const clock = createFakeClock();
  const work = Promise.withResolvers<void>();
  const onEnd = vi.fn();
  const draining = drain({ clock, delayMs: 0, load, work: work.promise });
  void draining.then(onEnd);
  for (let looks = 0; looks < 10; looks += 1) await clock.advance(20);
  expect(onEnd).not.toHaveBeenCalled();
  work.resolve();
  for (let looks = 0; looks < 2; looks += 1) await clock.advance(20);
  await draining;
});

test('work that fails or hangs does not keep the rest of the stop from what it has to end', async () => {
  const { load } = await open(() => undefined);
  const clock = createFakeClock();
  const failed = Promise.reject(new Error('the store is gone'));
  failed.catch(() => undefined);
  const hung = new Promise<void>(() => undefined);
  const drained = [failed, hung].map((work) => drain({ clock, delayMs: 0, load, work }));
  for (let passed = 0; passed < 6000; passed += 20) await clock.advance(20);
  expect(await Promise.all(drained)).toEqual([9000, 9000]);
});

test('from the stop on a response ends its connection, once the request is there in full', async () => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const { server, port, load } = await open(
    (incoming, response) => void respond(incoming, response),
  );
  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (incoming.url === '/early') return response.writeHead(413).end('early');
    for await (const _part of incoming);
    if (incoming.url === '/slow') {
      arrived.resolve();
      await gate.promise;
    }
    return response.end('served');
  }
  const headers = (path: string, body = ''): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, path, method: body === '' ? 'GET' : 'POST' }, (response) => {
        response.resume();
        resolve(response.headers.connection);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  expect(await headers('/')).toBe('keep-alive');
  const slow = headers('/slow');
  await arrived.promise;
  load.endConnections();
  gate.resolve();
  expect(await slow).toBe('close');
  expect(await headers('/')).toBe('close');
  expect(await headers('/', 'a body')).toBe('close');

  // Somebody who sends on reads the response first: a reset would take it away.
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbegun');
  const [response] = (await once(socket, 'data')) as [Buffer];
  expect(response.toString()).toMatch(/connection: keep-alive\r\n/i);
  socket.destroy();
  server.close();
});
