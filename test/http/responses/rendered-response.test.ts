import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import nock from 'nock';
import {
  createRenderer,
  createResponseCache,
  sendRendered,
  strongEtag,
} from '#http/responses/rendered-response.ts';
import { createServer } from '#http/server.ts';
import { exchangeBytes } from '../../e2e/support/raw-http.ts';
import { serverDeps } from '../../support/http/app.ts';

test('what the schema does not name does not leave', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  expect(render({ id: '7', secret: 'x' }).bytes.toString()).toBe('{"id":"7"}');
});

test('the same object is rendered once', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  const value = { id: '7' };
  expect(render(value)).toBe(render(value));
});

test('equal bytes have one validator, other bytes another', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  const etag = strongEtag(Buffer.from('{"id":"7"}'));
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(render({ id: '7' }).etag).toBe(etag);
  expect(render({ id: '8' }).etag).not.toBe(etag);
});

// It would stand between our socket and the server.
beforeAll(() => nock.restore());

const SALES = 'https://sales.example.com';

/** Starts a server that sends a rendered response where leads are, and gives its port. */
async function serve(title: string): Promise<number> {
  let requests = 0;
  const newId = () => `request-${(requests += 1)}`;
  const { app } = createServer(serverDeps({ newId, corsOrigins: [SALES] }));
  const render = createRenderer(z.object({ title: z.string() }));
  void app.register(async (scope) => {
    for (const path of ['/api/v1/leads', '/api/v1/leads/7'])
      scope.get(path, (request, reply) =>
        sendRendered({ request, reply }, render({ title }), {
          'cache-control': 'private, no-cache',
          vary: 'X-API-KEY',
        }),
      );
  });
  onTestFinished(() => app.close());
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
}

/** The status line, and the headers by their names. */
async function receive(
  port: number,
  text: string,
): Promise<[string, Record<string, string>, string]> {
  const { received } = await exchangeBytes(port, Buffer.from(text));
  const end = received.indexOf('\r\n\r\n');
  const [status = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = lines.map((line) => [line.split(': ', 1)[0], line.replace(/^.*?: /, '')]);
  return [status, Object.fromEntries(headers) as Record<string, string>, received.slice(end + 4)];
}

const head = (method: string, path = '/api/v1/leads/7', version = '1.1'): string =>
  `${method} ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n`;

test('a response says what it is, what it depends on, and how to know it again', async () => {
  const title = 'Zoë Blümchen';
  const [status, headers, body] = await receive(await serve(title), `${head('GET')}\r\n`);
  expect(status).toBe('HTTP/1.1 200 OK');
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(JSON.stringify({ title }))),
    'cache-control': 'private, no-cache',
    etag: strongEtag(Buffer.from(JSON.stringify({ title }))),
    vary: 'X-API-KEY, Origin',
    'x-content-type-options': 'nosniff',
    'x-request-id': 'request-1',
  });
  expect(body).not.toBe('');
});

test.each([
  ['a HEAD', `${head('HEAD')}\r\n`, 200],
  ['a caller that has it', `${head('GET')}If-None-Match: *\r\n\r\n`, 304],
  ['a HEAD of a caller that has it', `${head('HEAD')}If-None-Match: *\r\n\r\n`, 304],
])('%s gets the headers and no body', async (_who, text, code) => {
  const [status, headers, body] = await receive(await serve('a'), text);
  expect(status).toContain(` ${code} `);
  expect(headers).toMatchObject({
    vary: expect.stringContaining('X-API-KEY') as string,
    etag: expect.any(String) as string,
  });
  expect(headers['content-length']).toBe(code === 200 ? '13' : undefined);
  expect(body).toBe('');
});

test.each([
  [SALES, SALES],
  ['https://other.example.com', undefined],
])('a page of %s may read it: %s', async (origin, allowed) => {
  const text = `${head('GET')}Origin: ${origin}\r\n\r\n`;
  const [, headers] = await receive(await serve('a'), text);
  expect(headers['access-control-allow-origin']).toBe(allowed);
  expect(headers['vary']).toBe('X-API-KEY, Origin');
});

test.each([
  ['with letters of Latin-1', 'Zoë Blümchen'],
  ['with letters beyond', 'Łucja 王 🌻'],
  ['long', '🌻é'.repeat(5000)],
])('a text that is %s leaves as UTF-8', async (_what, title) => {
  const response = await fetch(`http://127.0.0.1:${await serve(title)}/api/v1/leads/7`);
  expect(await response.json()).toEqual({ title });
  expect(response.headers.get('vary')).toBe('X-API-KEY, Origin');
});

function openCache() {
  let version = 1;
  let made = 0;
  const make = async () => ({ headers: {}, etag: '', bytes: Buffer.from(String((made += 1))) });
  const cache = createResponseCache(async () => version);
  return {
    cache,
    make,
    write: () => void (version += 1),
    read: async (key: string) => (await cache.read(key, make)).bytes.toString(),
  };
}

test('a response is made once for as long as nothing is written', async () => {
  const { read } = openCache();
  expect([await read('a'), await read('a'), await read('b')]).toEqual(['1', '1', '2']);
});

test('a write makes every response anew', async () => {
  const { read, write } = openCache();
  await read('a');
  write();
  expect(await read('a')).toBe('2');
});

test('a write while a response is made counts against it', async () => {
  const { cache, make, read, write } = openCache();
  await cache.read('a', async () => {
    write();
    return make();
  });
  expect(await read('a')).toBe('2');
});

test('a failure is not cached', async () => {
  const { cache, read } = openCache();
  await expect(cache.read('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await read('a')).toBe('1');
});
