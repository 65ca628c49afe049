import nock from 'nock';
import { afterEach, describe, expect, test } from 'vitest';
import type { ImportedDraft } from '#catalog/import/import-file.ts';
import type { TokenSource } from '#catalog/import/import-target.ts';
import { createCaller } from '#cli/commands/catalog/server-call.ts';
import { createServerTarget } from '#cli/commands/catalog/server-target.ts';

const SERVER = 'https://trackport.test';
const TOKEN = 'secret-token';

afterEach(() => {
  const unused = nock.pendingMocks();
  nock.cleanAll();
  if (unused.length > 0) throw new Error(`never requested: ${unused.join(', ')}`);
});

const draft: ImportedDraft = {
  id: 'orders',
  version: '1.0.0',
  type: 'API',
  owner: 'team-a',
  title: 'Orders',
  source: 'FILE',
  specText: '{"big":12345678901234567890,"none":null}',
};

const { specText, ...fields } = draft;
const shown = { ...fields, lifecycle: 'DRAFT', workspaceId: 'w', counts: { versions: 1 } };
const times = { createdAt: '2026-03-01T12:00:00Z', updatedAt: '2026-03-01T12:00:00Z' };
/** A response as the server writes it: the spec stands there with all its digits. */
const body = (facts: object = {}, spec = specText): string =>
  `${JSON.stringify({ ...shown, ...times, ...facts }).slice(0, -1)},"spec":${spec}}`;

const json = { 'content-type': 'application/json', etag: '"tag-1"' };
const problemType = { 'content-type': 'application/problem+json' };
const problem = (code: string, facts: object = {}) => ({ code, detail: `${code}!`, ...facts });

const target = (tokens: TokenSource = { token: async () => TOKEN }) =>
  createServerTarget(SERVER, tokens);

/** As Node has it; messages can hold anything. */
const failure = (code: string) => Object.assign(new Error(TOKEN), { code });

const server = () => nock(SERVER, { reqheaders: { authorization: `Bearer ${TOKEN}` } });
const one = '/api/v1/catalog/orders?version=1.0.0';

describe('a version', () => {
  test('is read with every digit of its spec, and compared', async () => {
    server().get(one).reply(200, body(), json);
    expect(await target().read(draft)).toEqual({
      lifecycle: 'DRAFT',
      match: 'same',
      tag: '"tag-1"',
      findings: [],
    });
    server().get(one).reply(200, body({}, '{"big":12345678901234567891,"none":null}'), json);
    expect(await target().read(draft)).toMatchObject({ match: 'different' });
  });

  test('is created with its spec as it stands, once per key', async () => {
    server()
      .post('/api/v1/catalog', (sent) => JSON.stringify(sent).startsWith('{"id":"orders"'))
      .matchHeader('idempotency-key', /^[\da-f-]{36}$/)
      .matchHeader('content-type', 'application/json')
      .reply(201, body({ findings: [{ pointer: '#/spec', code: 'a', detail: 'b' }] }), json);
    expect(await target().create(draft)).toEqual({
      tag: '"tag-1"',
      findings: [{ pointer: '#/spec', code: 'a', detail: 'b' }],
    });
  });

  test('is replaced and published only as it was read', async () => {
    server().put(one).matchHeader('if-match', '"tag-0"').reply(200, body(), json);
    expect((await target().replace(draft, '"tag-0"')).tag).toBe('"tag-1"');
    server()
      .post('/api/v1/catalog/orders/publish?version=1.0.0&breaking=accept')
      .matchHeader('if-match', '"tag-1"')
      .matchHeader('idempotency-key', /^[\da-f-]{36}$/)
      .reply(200, body(), json);
    await target().publish(draft, { tag: '"tag-1"', acceptsBreaking: true });
  });
});

test('all versions of an artifact are listed over pages, numbered as they were made', async () => {
  const listed = (version: string, day: number) => ({
    version,
    type: 'API',
    lifecycle: 'PUBLISHED',
    createdAt: `2026-01-0${day}T00:00:00Z`,
    more: true,
  });
  const versions = '/api/v1/catalog/orders/versions?limit=100';
  server()
    .get(versions)
    .reply(200, { items: [listed('2.0.0', 2)], pagination: { nextCursor: 'c+1' } }, json);
  server()
    .get(`${versions}&cursor=c%2B1`)
    .reply(200, { items: [listed('1.0.0', 1)], pagination: {} }, json);
  expect(await target().candidates('orders')).toMatchObject([
    { version: '1.0.0', serial: 1 },
    { version: '2.0.0', serial: 2 },
  ]);
});

test('the server says which types and sources it knows, once for each', async () => {
  server()
    .get('/api/v1/catalog?type=API&source=FILE&limit=1')
    .reply(200, { items: [] }, json)
    .get('/api/v1/catalog?type=APY&source=FILE&limit=1')
    .reply(
      400,
      problem('validation-failed', {
        errors: [{ parameter: 'type', code: 'unknown-type', detail: 'A type is one of API.' }],
      }),
      problemType,
    );
  const checked = target();
  await checked.check(draft);
  await checked.check({ ...draft, version: '2.0.0' });
  for (const version of ['1', '2'])
    await expect(checked.check({ ...draft, version, type: 'APY' })).rejects.toMatchObject({
      code: 'validation-failed',
      errors: [{ pointer: '#/type', code: 'unknown-type', detail: 'A type is one of API.' }],
    });
});

test.each([
  [
    'never connects',
    new TypeError('fetch failed', { cause: failure('ECONNREFUSED') }),
    'ECONNREFUSED',
  ],
  ['sends no end', new DOMException(TOKEN, 'TimeoutError'), 'it did not respond in time'],
  ['breaks off', new TypeError(TOKEN), 'the connection failed'],
])('a server that %s is told by the code of the connection', async (_does, error, reason) => {
  const call = createCaller(SERVER, { token: async () => TOKEN });
  await expect(call(() => Promise.reject(error))).rejects.toMatchObject({
    name: 'TargetFailure',
    message: `${SERVER} cannot be reached: ${reason}.`,
  });
});

test('a server that asks for a wait of more than two minutes stops the import', async () => {
  server()
    .get(one)
    .reply(429, problem('quota-exceeded'), { ...problemType, 'retry-after': '121' });
  await expect(target().read(draft)).rejects.toMatchObject({
    name: 'TargetFailure',
    message: `${SERVER} is not available (429). quota-exceeded!`,
  });
});

describe('a token', () => {
  const renewable = () => {
    const tokens = ['old', TOKEN, 'third'];
    let renewals = 0;
    return {
      renewals: () => renewals,
      source: {
        token: async () => tokens[0] ?? '',
        renew: () => void (tokens.shift(), (renewals += 1)),
      },
    };
  };
  const refused = (token: string) =>
    nock(SERVER, { reqheaders: { authorization: `Bearer ${token}` } })
      .get(one)
      .reply(401, problem('unauthorized'), problemType);

  test('that ran out is renewed, and the request sent again', async () => {
    const { source, renewals } = renewable();
    refused('old');
    server().get(one).reply(200, body(), json);
    expect(await target(source).read(draft)).toMatchObject({ match: 'same' });
    expect(renewals()).toBe(1);
  });

  test('that is refused when it is new stops the import', async () => {
    const { source, renewals } = renewable();
    refused('old');
    refused(TOKEN);
    await expect(target(source).read(draft)).rejects.toMatchObject({ name: 'TargetFailure' });
    expect(renewals()).toBe(1);
  });

  test('goes to no other address, and is in no message', async () => {
    server()
      .get(one)
      .reply(307, '', { location: `https://other.test/${TOKEN}` });
    const failures = [await target().read(draft).catch(String)];
    refused(TOKEN);
    failures.push(await target().read(draft).catch(String));
    server().get(one).reply(403, problem('insufficient-scope'), problemType);
    failures.push(await target().read(draft).catch(String));
    expect(failures).toEqual([
      `TargetFailure: ${SERVER} redirects to https://other.test: name that address in --server.`,
      expect.stringContaining('refuses the token: unauthorized!'),
      `TargetFailure: ${SERVER} refuses: insufficient-scope!`,
    ]);
    expect(JSON.stringify(failures)).not.toContain(TOKEN);
  });
});

describe('what is no Trackport', () => {
  test.each([
    ['a page that is a success', 200, '<html>', { 'content-type': 'text/html' }],
    ['an unknown problem', 400, problem('teapot'), problemType],
    ['broken JSON', 400, '{', problemType],
  ])('is told by %s', async (_name, status, reply, headers) => {
    server().get(one).reply(status, reply, headers);
    await expect(target().read(draft)).rejects.toMatchObject({
      name: 'TargetFailure',
      message: expect.stringContaining('not as Trackport does'),
    });
  });

  test.each([
    ['without an entity tag', body(), { 'content-type': 'application/json' }],
    ['without a state', body({ lifecycle: 'NONE' }), json],
    ['that ends too early', body().slice(0, -1), json],
  ])('a version %s is not read', async (_name, reply, headers) => {
    server().get(one).reply(200, reply, headers);
    await expect(target().read(draft)).rejects.toMatchObject({ name: 'TargetFailure' });
  });
});
