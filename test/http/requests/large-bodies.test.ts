import { type AddressInfo, connect, type Socket } from 'node:net';
import nock from 'nock';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp } from '../../support/http/app.ts';

// It would read our broken HTTP in the server's place.
beforeAll(() => nock.restore());

const KIB = 1024;
const ROOM = 1000 * KIB;
const LARGE = 400 * KIB;

type Server = { port: number; app: HttpApp; held: () => Promise<number> };

/** A server with room for two large bodies; `/work` responds when `gate` opens. */
async function serve(gate: Promise<void> = Promise.resolve()): Promise<Server> {
  const metrics = new Registry();
  const app = buildTestApp({ metrics, limits: { largeBodiesBytesMax: ROOM } });
  app.post('/work', async (request) => {
    await gate;
    return { took: JSON.stringify(request.body ?? null).length };
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const gauge = metrics.getSingleMetric('trackport_http_large_bodies_bytes');
  const held = async (): Promise<number> => (await gauge?.get())?.values[0]?.value ?? NaN;
  return { port, app, held };
}

type Sending = { length?: number; isChunked?: boolean; sent: number };

/** Sends the head of a call, and the first bytes of its body; tells what came back so far. */
function open({ port }: Server, { length = LARGE, isChunked = false, sent }: Sending) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  socket.write(
    `POST /work HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
  );
  const write = (bytes: number): void => {
    if (isChunked) socket.write(`${bytes.toString(16)}\r\n`);
    socket.write(Buffer.alloc(bytes, ' '));
    if (isChunked) socket.write('\r\n');
  };
  if (sent > 0) write(sent);
  onTestFinished(() => void socket.destroy());
  const status = (): Promise<string> =>
    eventually(() => /HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? '', Boolean);
  return { socket, write, status, received: () => received };
}

async function eventually<T>(
  look: () => T | Promise<T>,
  isEnough: (value: T) => boolean,
): Promise<T> {
  return expect.poll(look).toSatisfy(isEnough).then(look);
}

const end = (socket: Socket): boolean => socket.write('{}');

describe('with two large bodies on their way', () => {
  async function crowded(gate?: Promise<void>) {
    const server = await serve(gate);
    const two = [1, 2].map(() => open(server, { sent: LARGE - 2 }));
    await eventually(server.held, (bytes) => bytes === 2 * (LARGE - 2));
    return { server, two };
  }

  test('a third is refused by its announced length, and its sender may go on', async () => {
    const { server } = await crowded();
    const third = open(server, { sent: 0 });
    expect(await third.status()).toBe('503');
    expect(third.received()).toMatch(/retry-after: \d+\r\n/i);
    expect(third.received()).toContain('"code":"overloaded"');
    third.write(LARGE);
    third.socket.write('GET /problems/overloaded HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(third.received, (text) => text.includes('HTTP/1.1 200'));
  });

  test('a chunked one is refused where the room ends, and its sender may go on', async () => {
    const { server } = await crowded();
    const third = open(server, { isChunked: true, sent: 100 * KIB });
    await eventually(server.held, (bytes) => bytes === 2 * (LARGE - 2) + 100 * KIB);
    expect(third.received()).toBe('');
    third.write(200 * KIB);
    expect(await third.status()).toBe('503');
    expect(await server.held()).toBe(2 * (LARGE - 2));
    third.socket.write('0\r\n\r\nGET /problems/overloaded HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(third.received, (text) => text.includes('HTTP/1.1 200'));
  });

  test('small ones pass', async () => {
    const { server } = await crowded();
    const small = open(server, { length: 64 * KIB, sent: 64 * KIB - 2 });
    end(small.socket);
    expect(await small.status()).toBe('200');
  });

  test('there is room again when one has its response', async () => {
    const { server, two } = await crowded();
    for (const one of two) end(one.socket);
    for (const one of two) expect(await one.status()).toBe('200');
    expect(await server.held()).toBe(0);
    const third = open(server, { sent: LARGE - 2 });
    end(third.socket);
    expect(await third.status()).toBe('200');
  });

  test('there is room again when one was cut off', async () => {
    const { server, two } = await crowded();
    two[0]?.socket.resetAndDestroy();
    await eventually(server.held, (bytes) => bytes === LARGE - 2);
    expect(await open(server, { length: ROOM, sent: 0 }).status()).toBe('503');
    two[1]?.socket.end();
    await eventually(server.held, (bytes) => bytes === 0);
  });

  test('one that is worked on counts until the work is done, although its client has gone', async () => {
    const gate = Promise.withResolvers<void>();
    const { server, two } = await crowded(gate.promise);
    for (const one of two) end(one.socket);
    await eventually(server.held, (bytes) => bytes === 2 * LARGE);
    for (const one of two) one.socket.resetAndDestroy();
    const third = open(server, { sent: 0 });
    expect(await third.status()).toBe('503');
    expect(await server.held()).toBe(2 * LARGE);
    gate.resolve();
    await eventually(server.held, (bytes) => bytes === 0);
  });
});

describe('an empty body is no body', () => {
  const ask = async (server: Server, head: string, body = ''): Promise<string> => {
    const socket = connect(server.port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.write(`${head}Host: a\r\nConnection: close\r\n\r\n${body}`);
    await new Promise((resolve) => socket.on('close', resolve));
    return received;
  };
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  const LAST_CHUNK = '0\r\n\r\n';

  test.each([
    ['in chunks', CHUNKED, LAST_CHUNK],
    ['in chunks, called JSON', `${CHUNKED}Content-Type: application/json\r\n`, LAST_CHUNK],
    ['in chunks, called something', `${CHUNKED}Content-Type: text/plain\r\n`, LAST_CHUNK],
    ['of a length', 'Content-Length: 0\r\n', ''],
    ['of a length, called something', 'Content-Length: 0\r\nContent-Type: text/plain\r\n', ''],
    ['of no length', '', ''],
  ])('%s', async (_how, headers, body) => {
    const server = await serve();
    expect(await ask(server, `POST /work HTTP/1.1\r\n${headers}`, body)).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*\{"took":4\}/,
    );
  });

  test.each([
    ['in chunks', CHUNKED, '1\r\n{\r\n0\r\n\r\n'],
    [
      'in chunks, called something',
      `${CHUNKED}Content-Type: text/plain\r\n`,
      '1\r\n{\r\n0\r\n\r\n',
    ],
    ['of a length', 'Content-Length: 1\r\n', '{'],
  ])('and a body that is not called JSON is refused: %s', async (_how, headers, body) => {
    const server = await serve();
    const response = await ask(server, `POST /work HTTP/1.1\r\n${headers}`, body);
    expect(response).toMatch(/^HTTP\/1\.1 415 /);
  });

  test.each([
    'Content-Type: text/plain; charset=utf-16\r\nContent-Length: 2\r\n',
    'Content-Encoding: gzip\r\nContent-Length: 2\r\n',
    'Content-Length: 2\r\n',
  ])('and that of a GET is never looked at: %j', async (headers) => {
    const server = await serve();
    const head = `GET /problems/overloaded HTTP/1.1\r\n${headers}`;
    expect(await ask(server, head, '{}')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
