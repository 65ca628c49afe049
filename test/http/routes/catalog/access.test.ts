import { expect, test } from 'vitest';
import type { GrantInput } from '#access/grant.ts';
import { DAY } from '#shared/clock.ts';
import { origin } from '../../../access/support.ts';
import { openWorld } from '../../../support/world.ts';
import { petstore } from '../../../support/catalog.ts';

const calls = [
  ['POST', '', 'catalog:write'],
  ['GET', '', 'catalog:read'],
  ['GET', '/petstore', 'catalog:read'],
  ['HEAD', '/petstore', 'catalog:read'],
  ['GET', '/petstore/spec', 'catalog:read'],
  ['GET', '/petstore/diff', 'catalog:read'],
  ['GET', '/petstore/versions', 'catalog:read'],
  ['GET', '/petstore/audit', 'catalog:read'],
  ['GET', '/petstore/usage', 'catalog:read'],
  ['PUT', '/petstore?version=1.0.0', 'catalog:write'],
  ['PATCH', '/petstore?version=1.0.0', 'catalog:write'],
  ['DELETE', '/petstore?version=1.0.0', 'catalog:write'],
  ['POST', '/petstore/publish', 'catalog:publish'],
  ['POST', '/petstore/deprecate', 'catalog:publish'],
  ['POST', '/petstore/reinstate', 'catalog:publish'],
  ['POST', '/petstore/retire', 'catalog:publish'],
  ['PUT', '/petstore/default?version=1.0.0', 'catalog:publish'],
  ['DELETE', '/petstore/default', 'catalog:publish'],
] as const;

const all = ['catalog:read', 'catalog:write', 'catalog:publish', 'trackport:admin'];

test.each(calls)('%s %s needs the scope %s and no other', async (method, path, scope) => {
  const { callCatalog: call } = openWorld();
  const others = all.filter((name) => name !== scope);
  const refused = await call(method, path, { as: { scopes: others } });
  expect(refused.status).toBe(403);
  const passed = await call(method, path, { as: { scopes: [scope] } });
  expect([401, 403]).not.toContain(passed.status);
});

test.each(calls)('%s %s without a token is a 401 before all else', async (method, path) => {
  const { callCatalog: call } = openWorld();
  const refused = await call(method, `${path}${path.includes('?') ? '&' : '?'}nonsense=1`, {
    headers: { authorization: '', 'content-type': 'text/plain' },
    raw: method === 'GET' || method === 'HEAD' ? '' : 'x',
  });
  expect(refused.status).toBe(401);
  const isRead = method === 'GET' || method === 'HEAD';
  expect(refused.headers['www-authenticate']).toBe(isRead ? 'Bearer, ApiKey' : 'Bearer');
});

test("another workspace's artifact does not exist, on any path", async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: { ...petstore, type: 'GROUP', groupPath: 'g' } });
  await call('POST', '/petstore/publish');
  await call('POST', '', { body: { ...petstore, id: 'draft' } });
  const as = { workspaceId: 'other' };
  const before = await call('GET', '/petstore');
  const headers = { 'if-match': '*' };
  const { id: _id, ...content } = petstore;
  const attempts = [
    await call('GET', '/petstore', { as }),
    await call('GET', '/petstore?version=1.0.0', { as }),
    await call('GET', '/petstore/diff', { as }),
    await call('GET', '/petstore/diff?from=1.0.0&to=1.0.0', { as }),
    await call('GET', '/petstore/spec', { as }),
    await call('GET', '/petstore/spec?version=1.0.0', { as }),
    await call('GET', '/petstore/versions', { as }),
    await call('GET', '/petstore/audit', { as }),
    await call('GET', '/petstore/usage', { as }),
    await call('GET', '/petstore/usage?version=1.0.0', { as }),
    await call('PUT', '/draft?version=1.0.0', { as, headers, body: content }),
    await call('PUT', '/draft', { as, headers, body: content }),
    await call('PATCH', '/petstore?version=1.0.0', { as, headers, body: { title: 'x' } }),
    await call('DELETE', '/draft?version=1.0.0', { as, headers }),
    await call('DELETE', '/draft', { as, headers }),
    await call('POST', '/draft/publish', { as }),
    await call('POST', '/draft/publish?version=1.0.0', { as }),
    await call('POST', '/petstore/deprecate', { as }),
    await call('POST', '/petstore/deprecate?version=1.0.0', { as }),
    await call('POST', '/petstore/reinstate?version=1.0.0', { as }),
    await call('POST', '/petstore/retire?version=1.0.0', { as }),
    await call('PUT', '/petstore/default?version=1.0.0', { as }),
    await call('DELETE', '/petstore/default', { as }),
  ];
  const { detail } = (await call('GET', '/nothing', { as })).body;
  for (const { status, body } of attempts)
    expect([status, body.code, body.detail]).toEqual([404, 'artifact-not-found', detail]);
  for (const query of ['', '?versions=all', '?q=pet', '?q=pet&versions=all', '?groupPath=g'])
    expect((await call('GET', query, { as })).body.items).toEqual([]);
  expect((await call('GET', '/petstore')).text).toBe(before.text);
});

/** The catalog with the key of a consumer that has these grants, which is good for a week. */
async function withKey(...grants: GrantInput[]) {
  const world = openWorld();
  const input = { name: 'docs', grants, limitPerMinute: 40, expiresInMs: 7 * DAY };
  const { consumer, issued } = await world.access.consumers.create(input, origin);
  const key = issued.key.reveal();
  const ask = async (method: 'GET' | 'POST', path: string, headers = {}) => {
    const url = `/api/v1/catalog${path}`;
    const {
      statusCode: status,
      headers: got,
      body,
    } = await world.app.inject({
      method,
      url,
      headers: { 'x-api-key': key, ...headers },
    });
    return { status, headers: got, body: body === '' ? undefined : JSON.parse(body) };
  };
  return { ...world, call: world.callCatalog, consumer, ask };
}

const catalogRead = { action: 'catalog:read', workspace: 'acme' };
const reads = ['', '/petstore', '/petstore/spec', '/petstore/versions', '/petstore/audit'];

test("a key with the grant reads its workspace's catalog, and no other", async () => {
  const { call, ask, access, consumer } = await withKey(catalogRead);
  const as = { workspaceId: 'acme' };
  await call('POST', '', { as, body: { ...petstore, spec: { a: null } } });
  await call('POST', '/petstore/publish', { as });
  await call('POST', '', { body: { ...petstore, id: 'others' } });
  for (const path of [...reads, '/petstore/diff?from=1.0.0']) {
    const { status, headers } = await ask('GET', path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'ratelimit-policy': expect.stringContaining('40'),
      'key-expires': expect.stringContaining('GMT'),
    });
    expect(headers['vary']).toContain('Authorization, X-API-KEY');
  }
  const { etag } = (await ask('GET', '/petstore')).headers;
  expect((await ask('GET', '/petstore', { 'if-none-match': etag })).status).toBe(304);
  expect((await ask('GET', '')).body.items).toMatchObject([{ id: 'petstore' }]);
  expect((await ask('GET', '/others')).body.code).toBe('artifact-not-found');
  await access.close();
  expect((await access.consumers.read(consumer.id)).keys).toMatchObject([
    { lastUsedAt: expect.any(Number) },
  ]);
});

test('a key without the grant is a 403, and one that is no good a 401 that names both', async () => {
  const { ask } = await withKey({ action: 'leads:read' });
  for (const path of reads) {
    expect((await ask('GET', path)).body.code).toBe('insufficient-scope');
    const { status, headers } = await ask('GET', path, { 'x-api-key': 'tpk_x' });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Bearer, ApiKey');
  }
});

test('a key changes nothing, and its limit holds', async () => {
  const { ask } = await withKey(catalogRead);
  const refused = await ask('POST', '/petstore/publish');
  expect(refused.status).toBe(401);
  expect(refused.headers['www-authenticate']).toBe('Bearer');
  for (let calls = 0; calls < 40; calls += 1) await ask('GET', '');
  expect((await ask('GET', '')).status).toBe(429);
});

test('who sends a token and a key is who the token says', async () => {
  const { call } = await withKey(catalogRead);
  expect((await call('GET', '', { headers: { 'x-api-key': 'tpk_x' } })).status).toBe(200);
});
