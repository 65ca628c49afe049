import type { ServerResponse } from 'node:http';

import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import type { TrackerExchange } from '#adapters/github/transport/client.ts';
import {
  API,
  createParts,
  watchNock,
  everythingIn,
  type LocalServer,
  startServer,
  TOKEN,
} from '../support.ts';
import { eventually } from '../../../support/eventually.ts';

const ROUTE = 'GET /things/{name}';
const PATH = '/things/one';
const NAMED = { name: 'one' };
const shape = { schema: z.object({ ok: z.literal(true) }) };

let server: LocalServer;

watchNock();

describe('a call', () => {
  test('names itself, the API version and the credential, and reads the answer', async () => {
    nock(API, {
      reqheaders: {
        authorization: `token ${TOKEN}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        'user-agent': /^trackport-test /,
      },
    })
      .get(PATH)
      .query({ after: 'a b' })
      .reply(200, { ok: true, unknown: 1 }, { 'x-more': 'yes' });
    const { client } = createParts();
    const answer = await client.request(ROUTE, { ...NAMED, after: 'a b' }, shape);
    expect(answer).toMatchObject({ kind: 'success', status: 200, data: { ok: true } });
    expect(answer.headers['x-more']).toBe('yes');
  });

  test('keeps the path of an API address that has one', async () => {
    nock(API).get(`/api/v3${PATH}`).reply(200, { ok: true });
    const { client } = createParts({ apiUrl: `${API}/api/v3` });
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('encodes what it puts into the path', async () => {
    nock(API).get('/things/a%2F..%2Fb%3Fc').reply(200, { ok: true });
    const { client } = createParts();
    const answer = await client.request(ROUTE, { name: 'a/../b?c' }, shape);
    expect(answer.kind).toBe('success');
  });

  test('takes 204 as no content', async () => {
    nock(API).delete(PATH).reply(204);
    const { client } = createParts();
    const none = { schema: z.undefined() };
    await expect(client.request('DELETE /things/{name}', NAMED, none)).resolves.toMatchObject({
      kind: 'success',
      status: 204,
    });
  });

  test('hands out statuses that the caller can use, and no others', async () => {
    nock(API).get(PATH).times(2).reply(404, { message: 'Not Found' });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, { ...shape, accept: [404] })).resolves.toMatchObject({
      kind: 'other',
      status: 404,
    });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'missing' });
  });

  test('takes a 304 only when it asked for one', async () => {
    nock(API, { reqheaders: { 'if-none-match': 'W/"a"' } })
      .get(PATH)
      .reply(304);
    nock(API, { badheaders: ['if-none-match'] })
      .get(PATH)
      .reply(304);
    const { client } = createParts();
    await expect(
      client.request(ROUTE, NAMED, { ...shape, validator: 'W/"a"' }),
    ).resolves.toMatchObject({ kind: 'other', status: 304 });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'nonsense' });
  });

  test('tells an observer what went over the wire, and nothing else', async () => {
    nock(API).get(PATH).reply(502).get(PATH).reply(200, { ok: true }).get(PATH).reply(304);
    const calls: TrackerExchange[] = [];
    const { client } = createParts({ onExchange: (call) => calls.push(call) });
    await client.request(ROUTE, NAMED, shape);
    await client.request(ROUTE, NAMED, { ...shape, validator: '"a"' });
    expect(calls).toEqual([
      { route: ROUTE, status: 502, isBilled: true, durationMs: 0 },
      { route: ROUTE, status: 200, isBilled: true, durationMs: 0 },
      { route: ROUTE, status: 304, isBilled: false, durationMs: 0 },
    ]);
  });
});

describe('a success that cannot be understood is nonsense', () => {
  const json = { 'content-type': 'application/json; charset=utf-8' };
  test.each([
    ['truncated JSON', '{"ok": tr', json],
    ['HTML', '<!doctype html><title>Unicorn!</title>', { 'content-type': 'text/html' }],
    ['HTML that says it is JSON', '<html></html>', json],
    ['empty', '', json],
    ['empty without a type', '', {}],
    ['a string', '"hello"', json],
    ['null', 'null', json],
    ['another shape', '{"ok": 1}', json],
    ['bytes', Buffer.from([0, 255, 1]), { 'content-type': 'application/octet-stream' }],
    ['a malformed content type and no JSON', 'x', { 'content-type': '///' }],
  ])('%s', async (_, body, headers) => {
    nock(API).get(PATH).reply(200, body, headers);
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'nonsense' });
  });

  test('but its content type does not matter', async () => {
    nock(API).get(PATH).reply(200, '{"ok":true}', { 'content-type': '///' });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });
});

describe('refusals are told apart', () => {
  test.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'missing'],
    [409, 'invalid'],
    [410, 'version-retired'],
    [422, 'invalid'],
    [451, 'forbidden'],
    [500, 'server'],
    [301, 'moved'],
    [307, 'moved'],
  ])('%i is %s', async (status, kind) => {
    nock(API)
      .get(PATH)
      .reply(status, { message: 'upstream words' }, { location: `${API}/other` });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind, status });
  });

  test('a 403 for a missing permission closes nothing', async () => {
    nock(API)
      .patch(PATH)
      .reply(
        403,
        { message: 'Resource not accessible by integration', documentation_url: 'https://docs' },
        { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': '1' },
      )
      .get(PATH)
      .reply(200, { ok: true });
    const { client } = createParts();
    await expect(client.request('PATCH /things/{name}', NAMED, shape)).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });

  const primary = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0' };
  const secondary = { message: 'You have exceeded a secondary rate limit.' };
  test.each([
    ['primary', 900, [403, { message: 'API rate limit exceeded' }, primary]],
    ['secondary with retry-after', 33, [403, secondary, { 'retry-after': '33' }]],
    ['secondary by its text alone', 60, [403, secondary, {}]],
    ['429 without headers', 60, [429, {}, {}]],
  ] as const)('%s limit: nothing is sent before its time', async (_, seconds, answer) => {
    const { client, clock } = createParts();
    const [status, body, headers] = answer;
    const reset = { 'x-ratelimit-reset': String(clock.now() / 1000 + 900) };
    nock(API)
      .get(PATH)
      .reply(status, body, { ...headers, ...reset });
    const limited = { kind: 'limited', retryAfterSeconds: seconds };
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject(limited);
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject(limited);
    await clock.advance(seconds * 1000);
    nock(API).get(PATH).reply(200, { ok: true });
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('GraphQL says in a success that a limit was exceeded', async () => {
    nock(API)
      .post('/graphql')
      .reply(200, { data: null, errors: [{ type: 'RATE_LIMITED', message: 'words' }] });
    const { client } = createParts();
    await expect(
      client.request('POST /graphql', { query: '{ viewer { login } }' }, { schema: z.unknown() }),
    ).rejects.toMatchObject({ kind: 'limited', retryAfterSeconds: 60 });
  });

  test('GraphQL errors of another kind are for the caller', async () => {
    nock(API)
      .post('/graphql', { query: 'q', variables: { a: 1 } })
      .reply(200, { data: null, errors: [{ type: 'FORBIDDEN', message: 'no' }] });
    const { client } = createParts();
    await expect(
      client.request(
        'POST /graphql',
        { query: 'q', variables: { a: 1 } },
        { schema: z.object({ errors: z.array(z.object({ type: z.string() })) }) },
      ),
    ).resolves.toMatchObject({ data: { errors: [{ type: 'FORBIDDEN' }] } });
  });
});

describe('retry', () => {
  test.each([502, 503, 504])('a GET answered %i is sent once more', async (status) => {
    nock(API).get(PATH).reply(status, '<html>').get(PATH).reply(200, { ok: true });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('and once only', async () => {
    nock(API).get(PATH).times(2).reply(502, '<html>');
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'server' });
  });

  test('not when the tracker names the time to come back', async () => {
    nock(API).get(PATH).reply(503, '', { 'retry-after': '120' });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({
      kind: 'server',
      retryAfterSeconds: 120,
    });
  });

  test('a GET whose connection breaks is sent once more', async () => {
    nock(API)
      .get(PATH)
      .replyWithError(Object.assign(new Error('secret words'), { code: 'ECONNRESET' }))
      .get(PATH)
      .reply(200, { ok: true });
    const { client } = createParts();
    await expect(client.request(ROUTE, NAMED, shape)).resolves.toMatchObject({ status: 200 });
  });

  test.each(['POST', 'PATCH', 'PUT', 'DELETE'])('a %s is never sent twice', async (method) => {
    nock(API).intercept(PATH, method).reply(502, '');
    const { client } = createParts();
    const route = `${method} /things/{name}`;
    await expect(client.request(route, NAMED, shape)).rejects.toMatchObject({ kind: 'server' });
    nock(API).intercept(PATH, method).replyWithError('gone');
    await expect(client.request(route, NAMED, shape)).rejects.toMatchObject({ kind: 'network' });
  });
});

describe('redirects', () => {
  test.each(['GET', 'PATCH', 'POST'])('a %s is never sent where one points', async (method) => {
    const elsewhere = await startServer((_, response) => {
      response.end('{"ok":true}');
    });
    server = await startServer((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/stolen` }).end('{}');
    });
    const { client } = createParts({ apiUrl: server.url });
    await expect(client.request(`${method} /things/{name}`, NAMED, shape)).rejects.toMatchObject({
      kind: 'moved',
      status: 307,
    });
    expect(elsewhere.requests).toEqual([]);
  });
});

describe('the deadline', () => {
  test('holds when no answer comes, and there is no second try', async () => {
    server = await startServer(() => {});
    const { client } = createParts({ apiUrl: server.url, requestTimeoutMs: 2000 });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'timeout' });
    expect(server.requests).toHaveLength(1);
  });

  test('holds when a body never ends', async () => {
    server = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"ok":');
    });
    const { client } = createParts({ apiUrl: server.url, requestTimeoutMs: 2000 });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test.each([
    [500, 'server'],
    [403, 'forbidden'],
    [404, 'missing'],
    [307, 'moved'],
  ])(
    'is not waited for where the body of a %i never ends: its beginning is enough',
    async (status, kind) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      let bytes = 0;
      server = await startServer((_, response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        const more = (): void => {
          bytes += chunk.length;
          if (!response.destroyed) response.write(chunk, () => setImmediate(more));
        };
        more();
      });
      const { client } = createParts({ apiUrl: server.url });
      await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind, status });
      expect(bytes).toBeLessThan(16 * 1024 * 1024); // what sockets hold
    },
  );

  test('comes early for all calls once they are cut, and there is no call after that', async () => {
    server = await startServer(() => {});
    const cut = new AbortController();
    const { client } = createParts({ apiUrl: server.url, cut: cut.signal });
    const inFlight = client.request(ROUTE, NAMED, shape);
    await eventually(() => expect(server.requests).toHaveLength(1));
    cut.abort(new DOMException('the service stops', 'TimeoutError'));
    await expect(inFlight).rejects.toMatchObject({ kind: 'timeout' });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'timeout' });
    expect(server.requests).toHaveLength(1);
  });

  test('covers the retry', async () => {
    server = await startServer((_, response) => {
      if (server.requests.length === 1) response.writeHead(502).end();
    });
    const { client } = createParts({ apiUrl: server.url, requestTimeoutMs: 2000 });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'timeout' });
    expect(server.requests).toHaveLength(2);
  });

  test('covers the wait for a place among the calls in flight', async () => {
    server = await startServer(() => {});
    const { client } = createParts({ apiUrl: server.url, requestTimeoutMs: 2000 });
    const calls = Array.from({ length: 40 }, () => client.request(ROUTE, NAMED, shape));
    const results = await Promise.allSettled(calls);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(server.requests.length).toBeLessThanOrEqual(30);
  });
});

describe('the connection', () => {
  test('tells a body that breaks off from nonsense, and tries again', async () => {
    server = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"ok":');
      setImmediate(() => response.destroy());
    });
    const { client } = createParts({ apiUrl: server.url });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'network' });
    expect(server.requests).toHaveLength(2);
  });

  test('is given up when a success is far longer than any page of issues', async () => {
    const megabyte = ' '.repeat(1024 * 1024);
    server = await startServer((_, response) => {
      response.on('error', () => {});
      for (let sent = 0; sent <= 64; sent += 1) response.write(megabyte);
      response.end('{"ok":true}');
    });
    const { client } = createParts({ apiUrl: server.url });
    await expect(client.request(ROUTE, NAMED, shape)).rejects.toMatchObject({ kind: 'nonsense' });
  });

  test('is used again', async () => {
    const ports = new Set<number | undefined>();
    server = await startServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{"ok":true}');
    });
    const { client } = createParts({ apiUrl: server.url });
    for (let call = 0; call < 20; call += 1) await client.request(ROUTE, NAMED, shape);
    expect(ports.size).toBeLessThan(5);
  });

  test('is shared by at most 30 calls at a time, and all are served', async () => {
    const held: ServerResponse[] = [];
    let heldMax = 0;
    server = await startServer((_, response) => {
      held.push(response);
      heldMax = Math.max(heldMax, held.length);
      const isFull = held.length === 30 || server.requests.length === 100;
      // One more turn of the loop, so that a call too many would be seen.
      if (isFull) setImmediate(() => held.splice(0).forEach((each) => each.end('{"ok":true}')));
    });
    const { client } = createParts({ apiUrl: server.url });
    const calls = Array.from({ length: 100 }, () => client.request(ROUTE, NAMED, shape));
    await Promise.all(calls);
    expect(server.requests).toHaveLength(100);
    expect(heldMax).toBe(30);
  });
});

describe('failures keep silent', () => {
  const words = 'ada@example.com says <html>';
  test.each([
    ['an HTML page', () => nock(API).post(PATH).reply(502, words, { 'content-type': 'text/html' })],
    [
      'a message',
      () =>
        nock(API)
          .post(PATH)
          .reply(422, { message: words, errors: [words] }),
    ],
    ['nonsense', () => nock(API).post(PATH).reply(200, words)],
    ['a broken connection', () => nock(API).post(PATH).replyWithError(words)],
  ])('about the request, the credential and %s', async (_, answer) => {
    answer();
    const { client } = createParts();
    const error: unknown = await client
      .request('POST /things/{name}', { ...NAMED, body: 'private words' }, shape)
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    const told = everythingIn(error);
    for (const secret of ['ada@example.com', 'private words', TOKEN, 'api.tracker.test'])
      expect(told).not.toContain(secret);
  });
});
