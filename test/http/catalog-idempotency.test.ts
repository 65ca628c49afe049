import { describe, expect, test } from 'vitest';
import { runOnce, type KeyedCall } from '#catalog/idempotency.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { buildCatalog, openCatalogApp, statusesOf } from '../support/catalog.ts';

const least = { id: 'petstore', type: 'API', owner: 'team-a', title: 'Pet store' };
const key = (text: string) => ({ 'idempotency-key': text });

test('a repeat of a create gets the first answer, and nothing is made twice', async () => {
  const { call } = openCatalogApp();
  const body = { ...least, spec: { n: null } };
  const first = await call('POST', '', { body, headers: key('k1') });
  const again = await call('POST', '', { body, headers: key('k1') });
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  for (const name of ['etag', 'location', 'content-location', 'content-type'])
    expect(again.headers[name]).toBe(first.headers[name]);
  expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  expect((await call('GET', '/petstore/versions')).body.items).toHaveLength(1);
});

test.each(['publish', 'deprecate', 'reinstate', 'retire'])('%s honours it, too', async (action) => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least });
  if (action !== 'publish') await call('POST', '/petstore/publish');
  if (action === 'reinstate' || action === 'retire') await call('POST', '/petstore/deprecate');
  const path = `/petstore/${action}?version=1.0.0`;
  const first = await call('POST', path, { headers: key('k') });
  const again = await call('POST', path, { headers: key('k') });
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.text).toBe(first.text);
});

test('the same key with another body or query is refused', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least, headers: key('k') });
  const other = await call('POST', '', { body: { ...least, title: 'x' }, headers: key('k') });
  expect(other.status).toBe(422);
  expect(other.body.code).toBe('idempotency-mismatch');
  await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  const query = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(query.body.code).toBe('idempotency-mismatch');
});

test('a key belongs to its principal, its workspace and its path', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least, headers: key('k') });
  const stranger = await call('POST', '', { body: least, headers: key('k'), as: { subject: 'b' } });
  expect(stranger.body.version).toBe('1.1.0');
  const client = await call('POST', '', { body: least, headers: key('k'), as: { clientId: 'b' } });
  expect(client.body.version).toBe('1.2.0');
  const away = await call('POST', '', { body: least, headers: key('k'), as: { workspaceId: 'w' } });
  expect(away.body).toMatchObject({ version: '1.0.0', workspaceId: 'w' });
  const path = await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  expect(path.body.lifecycle).toBe('PUBLISHED');
});

test('a call that failed leaves its key free', async () => {
  const { call } = openCatalogApp();
  const missing = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(missing.status).toBe(404);
  await call('POST', '', { body: least });
  const published = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(published.status).toBe(200);
});

test('of two at once one is done and the other told to wait', async () => {
  const { call } = openCatalogApp();
  const all = await Promise.all(
    [1, 2].map(() => call('POST', '', { body: least, headers: key('k') })),
  );
  const statuses = statusesOf(all);
  expect([
    [201, 201],
    [201, 409],
  ]).toContainEqual(statuses);
  expect((await call('GET', '/petstore/versions')).body.items).toHaveLength(1);
});

test.each(['', 'a b', 'ä', 'x'.repeat(256)])('the key %j is refused', async (text) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: least, headers: key(text) });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([
    expect.objectContaining({ header: expect.stringMatching(/idempotency-key/i) }),
  ]);
});

describe('a keyed call', () => {
  const keyed: KeyedCall = {
    workspaceId: 'w',
    principal: 'p',
    route: 'POST /x',
    key: 'k',
    payload: 1,
  };
  const answer = { status: 201, headers: { etag: '"x"' }, body: 'ünï' };

  test('that runs keeps others out, until it is taken for crashed', async () => {
    const { idempotency: store, clock } = buildCatalog();
    const deps = { store, clock };
    const never = new Promise<typeof answer>(() => undefined);
    void runOnce(deps, keyed, () => never);
    const second = runOnce(deps, keyed, async () => answer);
    await expect(second).rejects.toMatchObject({ code: 'idempotency-in-progress' });
    await clock.advance(MINUTE);
    expect(await runOnce(deps, keyed, async () => answer)).toEqual({ answer, replayed: false });
  });

  test('is remembered for a day and no longer', async () => {
    const { idempotency: store, clock } = buildCatalog();
    const deps = { store, clock };
    let runs = 0;
    const work = async (): Promise<typeof answer> => {
      runs += 1;
      return answer;
    };
    await runOnce(deps, keyed, work);
    await clock.advance(24 * HOUR);
    expect(await runOnce(deps, keyed, work)).toEqual({ answer, replayed: true });
    await clock.advance(1);
    expect(await runOnce(deps, keyed, work)).toEqual({ answer, replayed: false });
    expect(runs).toBe(2);
  });
});
