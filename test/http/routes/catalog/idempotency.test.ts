import { describe, expect, test } from 'vitest';
import { createIdempotency, type KeyedCall } from '#shared/idempotency.ts';
import { HOUR } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { buildCatalog, openCatalogApp, statusesOf, type Call } from '../../../support/catalog.ts';
import { dyingAfterCommit, temporaryDatabase } from '../../../support/stores.ts';

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

test('the same path with an escaped letter is the same call', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least });
  const first = await call('POST', '/petstore/publish?version=1.0.0', { headers: key('k') });
  const again = await call('POST', '/p%65tstore/publi%73h?version=1.0.0', { headers: key('k') });
  expect(first.status).toBe(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
});

test('the same key with another body or query is refused', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least, headers: key('k') });
  const other = await call('POST', '', { body: { ...least, title: 'x' }, headers: key('k') });
  expect(other.status).toBe(422);
  expect(other.body.code).toBe('idempotency-mismatch');
  await call('POST', '', { body: { ...least, spec: { n: 1 } }, headers: key('s') });
  for (const spec of [{ n: 2 }, {}, undefined]) {
    const body = { ...least, ...(spec && { spec }) };
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
    const { call } = openCatalogApp({}, database);
    for (const step of steps) await send(call, step);
    await send(openCatalogApp({}, dyingAfterCommit(database)).call, action, 'k');
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
    ...(action === 'create' && { body: least }),
    ...(idempotencyKey !== undefined && { headers: key(idempotencyKey) }),
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
  const render = (body: string) => ({ status: 201, headers: { etag: '"x"' }, body });
  const response = render('ünï');

  test('that runs keeps others out for as long as it runs', async () => {
    const { idempotency: store, clock } = buildCatalog();
    const idempotency = createIdempotency({ store, clock });
    let end: (view: string) => void = () => undefined;
    const work = () => new Promise<string>((resolve) => (end = resolve));
    const first = idempotency.once(keyed, { work, render });
    const second = idempotency.once(keyed, { work, render });
    await expect(second).rejects.toMatchObject({ code: 'idempotency-in-progress' });
    const other = idempotency.once({ ...keyed, payload: 2 }, { work, render });
    await expect(other).rejects.toMatchObject({ code: 'idempotency-mismatch' });
    end('ünï');
    expect(await first).toEqual({ response, isReplayed: false });
    expect(await idempotency.once(keyed, { work, render })).toEqual({ response, isReplayed: true });
  });

  test('that another process did meanwhile gets the answer of that one', async () => {
    const { idempotency: store, clock } = buildCatalog();
    const [here, there] = [1, 2].map(() => createIdempotency({ store, clock }));
    const work = async (): Promise<string> => {
      await there?.once(keyed, { work: async () => 'ünï', render });
      throw new TrackportError('version-exists');
    };
    expect(await here?.once(keyed, { work, render })).toEqual({ response, isReplayed: true });
  });

  test('is remembered for a day and no longer', async () => {
    const { idempotency: store, clock } = buildCatalog();
    const idempotency = createIdempotency({ store, clock });
    let runs = 0;
    const work = async (): Promise<string> => {
      runs += 1;
      return 'ünï';
    };
    await idempotency.once(keyed, { work, render });
    await clock.advance(24 * HOUR);
    expect(await idempotency.once(keyed, { work, render })).toEqual({ response, isReplayed: true });
    await clock.advance(1);
    expect(await idempotency.once(keyed, { work, render })).toEqual({
      response,
      isReplayed: false,
    });
    expect(runs).toBe(2);
  });
});
