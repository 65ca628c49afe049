import { expect, test, beforeAll, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  cacheStatus,
  createRenderer,
  strongEtag,
  JSON_MEDIA_TYPE,
  type RenderedResponse,
  sendRendered,
  createResponseCache,
} from '#http/responses/rendered-response.ts';
import nock from 'nock';
import { matchesNone } from '#http/requests/headers.ts';
import { revalidatedFor } from '#http/responses/headers.ts';
import type { Exchange } from '#http/context.ts';
import { createServer } from '#http/server.ts';
import { exchangeBytes } from '../../e2e/support/raw-http.ts';
import { serverDeps } from '../../support/http/app.ts';

test.each([
  [{ outcome: 'hit', ttlMs: 11_999 }, 'trackport; hit; ttl=11'],
  [{ outcome: 'hit', ttlMs: -1 }, 'trackport; hit; ttl=0'],
  [{ outcome: 'miss', ttlMs: 15_000 }, 'trackport; fwd=miss; stored; ttl=15'],
  [{ outcome: 'stale', ttlMs: -1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=-2'],
  [{ outcome: 'stale', ttlMs: 1500 }, 'trackport; fwd=stale; fwd-status=503; ttl=0'],
] as const)('%j is reported as %s', (facts, status) => {
  expect(cacheStatus({ ...facts, ageMs: 0 })).toBe(status);
});

test('what the schema does not name does not leave', () => {
  const render = createRenderer(z.object({ id: z.string() }));
  expect(render({ id: '7', secret: 'x' }).bytes).toBe('{"id":"7"}');
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

type Send = (exchange: Exchange, rendered: RenderedResponse, headers: readonly string[]) => unknown;

/** The same by the framework alone. */
const sendByFramework: Send = ({ request, reply }, { bytes, etag }, headers) => {
  reply.header('etag', etag);
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1]);
  if (matchesNone(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply
    .header('content-type', JSON_MEDIA_TYPE)
    .send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
};

/** Starts a server that sends a rendered response where leads are, and gives its port. */
async function serve(title: string, send: Send = sendRendered): Promise<number> {
  let requests = 0;
  const newId = () => `request-${(requests += 1)}`;
  const { app } = createServer(serverDeps({ newId, corsOrigins: [SALES] }));
  const render = createRenderer(z.object({ title: z.string() }));
  const headers = Object.entries(revalidatedFor('X-API-KEY')).flat();
  void app.register(async (scope) => {
    for (const path of ['/api/v1/leads', '/api/v1/leads/7'])
      scope.get(path, (request, reply) => send({ request, reply }, render({ title }), headers));
  });
  onTestFinished(() => app.close());
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
}

/** All that comes back: the lines of each head in order, without those that the clock sets. */
async function receive(port: number, text: string): Promise<string[]> {
  const { received } = await exchangeBytes(port, Buffer.from(text));
  return received
    .replaceAll(/^(date: ).*/gim, '$1')
    .split(/(?=HTTP\/1\.1 )/)
    .map((response) => {
      const end = response.indexOf('\r\n\r\n');
      return [...response.slice(0, end).split('\r\n').toSorted(), response.slice(end)].join('\n');
    });
}

const head = (method: string, path = '/api/v1/leads/7', version = '1.1'): string =>
  `${method} ${path} HTTP/${version}\r\nHost: a\r\n`;

test.each([
  ['a GET', `${head('GET')}\r\n`],
  ['a GET of a list', `${head('GET', '/api/v1/leads')}\r\n`],
  ['a HEAD', `${head('HEAD')}\r\n`],
  ['a caller that has it', `${head('GET')}If-None-Match: *\r\n\r\n`],
  ['a HEAD of a caller that has it', `${head('HEAD')}If-None-Match: *\r\n\r\n`],
  ['a browser', `${head('GET')}Origin: ${SALES}\r\n\r\n`],
  ['another page', `${head('GET')}Origin: https://other.example.com\r\nIf-None-Match: *\r\n\r\n`],
  ['a client of HTTP/1.0', `${head('GET', undefined, '1.0')}\r\n`],
  ['one that stays', `${head('GET', undefined, '1.0')}Connection: keep-alive\r\n\r\n`],
  ['one that goes', `${head('GET')}Connection: close\r\n\r\n`],
  ['one that sends a body', `${head('GET')}Content-Length: 5\r\n\r\nhello`],
  [
    'one that asks before it sends one',
    `${head('GET')}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
  ],
  [
    'many requests at once',
    `${head('HEAD')}\r\n${head('GET', '/none')}\r\n`.repeat(3) + `${head('GET')}\r\n`,
  ],
])('%s gets what the framework would have sent, byte for byte', async (_who, text) => {
  for (const title of ['Zoë Blümchen', 'Łucja 王 🌻', '🌻é'.repeat(5000)]) {
    const past = await receive(await serve(title), text);
    expect(past.join('\n')).toMatch(/^HTTP\/1\.1 (200|304) /m);
    expect(past).toEqual(await receive(await serve(title, sendByFramework), text));
  }
});

test.each([
  ['with letters of Latin-1', 'Zoë Blümchen'],
  ['with letters beyond', 'Łucja 王 🌻'],
  ['too long for one write', '🌻é'.repeat(5000)],
])('a text that is %s leaves as UTF-8', async (_what, title) => {
  const response = await fetch(`http://127.0.0.1:${await serve(title)}/api/v1/leads/7`);
  expect(await response.json()).toEqual({ title });
  expect(response.headers.get('vary')).toBe('X-API-KEY, Origin');
});

function openCache() {
  let version = 1;
  let made = 0;
  const make = async () => ({ headers: [], etag: '', bytes: String((made += 1)) });
  const cache = createResponseCache(async () => version);
  return {
    cache,
    make,
    write: () => void (version += 1),
    read: async (key: string) => (await cache.read(key, make)).bytes,
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
