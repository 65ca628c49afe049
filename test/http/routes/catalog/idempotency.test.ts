import { expect, expectTypeOf, test } from 'vitest';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { readView } from '#catalog/version/version-view.ts';
import type { respondWithVersion } from '#http/routes/catalog/version.ts';
import { type Call, openWorld } from '../../../support/world.ts';
import { temporaryDatabase, withCommits } from '../../../support/stores.ts';
import { catalogRules, petstore } from '../../../support/catalog.ts';
import type { LocalDatabase } from '#adapters/sqlite/database.ts';
import { TrackportError } from '#shared/errors.ts';

/** The database as a crash leaves it: after one audited change nothing is written any more. */
function dyingAfterCommit(database: LocalDatabase): LocalDatabase {
  const audited = database.handle.prepare<[], number>('SELECT COUNT(*) FROM audit').pluck();
  const before = audited.get();
  return withCommits(database, (commit) => {
    if (audited.get() !== before) throw new TrackportError('store-unavailable');
    return commit();
  });
}

const key = (text: string) => ({ 'idempotency-key': text });

test('a repeat of a create gets the first response, and nothing is made twice', async () => {
  const { callCatalog: call } = openWorld();
  const body = { ...petstore, spec: { n: null } };
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

test('the same path with an escaped letter is the same request', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: petstore });
  const first = await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  const again = await call('POST', '/p%65tstore/publi%73h?version=1.0.0', { headers: key('k') });
  expect(first.status).toBe(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
});

test('the same key with another body or query is refused', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: petstore, headers: key('k') });
  const other = await call('POST', '', { body: { ...petstore, title: 'x' }, headers: key('k') });
  expect(other.status).toBe(422);
  expect(other.body.code).toBe('idempotency-mismatch');
  await call('POST', '', { body: { ...petstore, spec: { n: 1 } }, headers: key('s') });
  for (const spec of [{ n: 2 }, {}, undefined]) {
    const body = { ...petstore, ...(spec && { spec }) };
    expect((await call('POST', '', { body, headers: key('s') })).status).toBe(422);
  }
  await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  const query = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(query.body.code).toBe('idempotency-mismatch');
});

test.each([
  ['create', 201, []],
  ['publish', 200, ['create']],
  ['deprecate', 200, ['create', 'publish']],
  ['reinstate', 200, ['create', 'publish', 'deprecate']],
  ['retire', 200, ['create', 'publish', 'deprecate']],
])(
  'a crash right after the commit of a %s leaves its answer behind',
  async (action, status, steps) => {
    const database = temporaryDatabase();
    const { callCatalog: call } = openWorld({ database });
    for (const step of steps) await send(call, step);
    await send(openWorld({ database: dyingAfterCommit(database) }).callCatalog, action, 'k');
    const again = await send(call, action, 'k');
    expect(again.status).toBe(status);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const { text } = await call('GET', '/petstore?version=1.0.0');
    expect(again.text).toBe(text);
    const { body } = await call('GET', '/petstore/audit');
    const actions = body.items.map((item: { action: string }) => item.action);
    expect(actions.filter((name: string) => name === `artifact.${action}`)).toHaveLength(1);
  },
);

const send = (call: Call, action: string, idempotencyKey?: string) =>
  call('POST', action === 'create' ? '' : `/petstore/${action}?version=1.0.0`, {
    ...(action === 'create' && { body: petstore }),
    ...(idempotencyKey !== undefined && { headers: key(idempotencyKey) }),
  });

test('a repeat gets the first response also when its words are not configured any more', async () => {
  let types: string[] = ['DASHBOARD'];
  const rules = () => ({ ...catalogRules, types });
  const { callCatalog: call } = openWorld({ catalog: { rules } });
  const body = { ...petstore, type: 'DASHBOARD' };
  const first = await call('POST', '', { body, headers: key('k') });
  types = [];
  const again = await call('POST', '', { body, headers: key('k') });
  expect([again.status, again.text]).toEqual([201, first.text]);
  const unknown = expect.objectContaining({ pointer: '#/type', code: 'unknown-type' });
  const other = await call('POST', '', { body, headers: key('l') });
  expect([other.status, other.body.errors]).toEqual([400, [unknown]]);
  const untitled = { ...body, title: '' };
  const wrong = await call('POST', '', { body: untitled, headers: key('l') });
  expect(wrong.body.errors).toEqual([expect.objectContaining({ pointer: '#/title' }), unknown]);
});

test('a key means nothing where no call takes one', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: petstore });
  const body = { ...petstore, id: 'other' };
  const headers = { ...key('k'), 'if-match': '*' };
  const moved = await call('PUT', '/petstore', { body, headers });
  expect(moved.body.errors).toMatchObject([{ pointer: '#/id', code: 'mismatch' }]);
});

test('a key belongs to its principal, its workspace and its path', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: petstore, headers: key('k') });
  const stranger = await call('POST', '', {
    body: petstore,
    headers: key('k'),
    as: { subject: 'b' },
  });
  expect(stranger.body.version).toBe('1.1.0');
  const client = await call('POST', '', {
    body: petstore,
    headers: key('k'),
    as: { clientId: 'b' },
  });
  expect(client.body.version).toBe('1.2.0');
  const away = await call('POST', '', {
    body: petstore,
    headers: key('k'),
    as: { workspaceId: 'w' },
  });
  expect(away.body).toMatchObject({ version: '1.0.0', workspaceId: 'w' });
  const path = await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  expect(path.body.lifecycle).toBe('PUBLISHED');
});

test('a request that failed leaves its key free', async () => {
  const { callCatalog: call } = openWorld();
  const missing = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(missing.status).toBe(404);
  await call('POST', '', { body: petstore });
  const published = await call('POST', '/petstore/publish', { headers: key('k') });
  expect(published.status).toBe(200);
});

test.each(['', 'ä', 'x'.repeat(256)])('the key %j is refused', async (text) => {
  const { callCatalog: call } = openWorld();
  const refused = await call('POST', '', { body: petstore, headers: key(text) });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([
    expect.objectContaining({ header: expect.stringMatching(/idempotency-key/i) }),
  ]);
});

test('a use case that stores no response fits no route that takes a key', () => {
  type Work = Parameters<typeof respondWithVersion>[2];
  expectTypeOf(publishVersion).returns.toExtend<ReturnType<Work>>();
  expectTypeOf(readView).returns.not.toExtend<ReturnType<Work>>();
});
