import { describe, expect, test } from 'vitest';
import { type Call, openWorld } from '../../../support/world.ts';
import { catalogRules, petstore } from '../../../support/catalog.ts';

async function publish(call: Call, facts: object = {}): Promise<void> {
  const made = await call('POST', '', { body: { ...petstore, ...facts } });
  const { id, version } = made.body;
  expect((await call('POST', `/${id}/publish?version=${version}`)).status).toBe(200);
}

const idsOf = (reply: { body: { items: { id: string; version: string }[] } }): string[] =>
  reply.body.items.map(({ id, version }) => `${id}@${version}`);

describe('one version', () => {
  test('is found whatever the case of the id, and says where exactly it is', async () => {
    const { callCatalog: call } = openWorld();
    await publish(call, { id: 'Pet.Store', version: 'v1' });
    const read = await call('GET', '/PET.store');
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({ id: 'Pet.Store', version: 'v1' });
    expect(read.headers['content-location']).toBe('/api/v1/catalog/Pet.Store?version=v1');
    expect(read.headers['vary']).toContain('Authorization');
  });

  test.each([
    ['/nothing?version=1.0.0', 'no artifact'],
    ['/nothing/versions', 'no artifact'],
    ['/petstore?version=V1', 'no such version'],
  ])('%s is a 404 that says what is not there', async (path, detail) => {
    const { callCatalog: call } = openWorld();
    await publish(call, { version: 'v1' });
    const unknown = await call('GET', path);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({
      code: 'artifact-not-found',
      detail: expect.stringContaining(detail),
    });
  });

  test('an id of another shape is a plain 404, too', async () => {
    const { callCatalog: call } = openWorld();
    for (const path of ['/a%20b', '/%00', "/x'%20OR%201=1", `/${'x'.repeat(500)}`])
      expect((await call('GET', path)).status).toBe(404);
  });

  test('without a published version is another 404', async () => {
    const { callCatalog: call } = openWorld();
    await call('POST', '', { body: petstore });
    const refused = await call('GET', '/petstore');
    expect(refused.status).toBe(404);
    expect(refused.body.code).toBe('no-published-version');
  });

  test.each(['version=1%2B2', 'version=1&version=2', 'verson=1'])(
    'a wrong query is refused: %s',
    async (query) => {
      const { callCatalog: call } = openWorld();
      const refused = await call('GET', `/petstore?${query}`);
      expect(refused.body).toMatchObject({ status: 400, errors: [{}] });
    },
  );

  test('is not sent again to who has it', async () => {
    const { callCatalog: call } = openWorld();
    await publish(call, { spec: { a: 1 } });
    const first = await call('GET', '/petstore');
    const etag = String(first.headers['etag']);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await call('GET', '/petstore', { headers: { 'if-none-match': tag } });
      expect(again.status).toBe(304);
      expect(again.text).toBe('');
      expect(again.headers).toMatchObject({
        etag,
        'content-location': first.headers['content-location'],
      });
    }
    const other = await call('GET', '/petstore', { headers: { 'if-none-match': '"x"' } });
    expect(other.status).toBe(200);
    expect(other.body.spec).toEqual({ a: 1 });
  });

  test('HEAD responds as GET without the body', async () => {
    const { callCatalog: call } = openWorld();
    await publish(call);
    const head = await call('HEAD', '/petstore');
    const get = await call('GET', '/petstore');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['etag']).toBe(get.headers['etag']);
  });

  test('its validator changes with its members and counts', async () => {
    const { callCatalog: call } = openWorld();
    await publish(call, { id: 'group', type: 'GROUP', groupPath: 'g' });
    const empty = await call('GET', '/group');
    expect(empty.body).toMatchObject({ members: [], counts: { versions: 1, members: 0 } });
    await publish(call, { id: 'a', groupPath: 'g', type: 'EVENT' });
    const full = await call('GET', '/group');
    expect(full.body).toMatchObject({
      members: [{ id: 'a', type: 'EVENT', title: 'Pet store', lifecycle: 'PUBLISHED' }],
      counts: { versions: 1, members: 1, 'members.EVENT': 1 },
    });
    expect(full.headers['etag']).not.toBe(empty.headers['etag']);
  });
});

describe('the list', () => {
  test('shows one row per artifact, newest first, without what is heavy', async () => {
    const { callCatalog: call } = openWorld();
    await publish(call, { id: 'a', spec: { a: 1 }, counts: { x: 1 }, description: 'Words' });
    await call('POST', '', { body: { ...petstore, id: 'a' } });
    await call('POST', '', { body: { ...petstore, id: 'b' } });
    const list = await call('GET', '');
    expect(idsOf(list)).toEqual(['b@1.0.0', 'a@1.0.0']);
    expect(list.body.items[1]).toEqual({
      ...petstore,
      id: 'a',
      version: '1.0.0',
      description: 'Words',
      lifecycle: 'PUBLISHED',
      source: 'INLINE',
      createdAt: '2026-03-01T12:00:00Z',
      updatedAt: '2026-03-01T12:00:00Z',
      publishedAt: '2026-03-01T12:00:00Z',
      workspaceId: 'default',
    });
    expect(idsOf(await call('GET', '?lifecycle=DRAFT&versions=all'))).toEqual([
      'b@1.0.0',
      'a@1.1.0',
    ]);
  });

  test('is filtered by all that is asked for', async () => {
    const { callCatalog: call } = openWorld();
    const facts = { type: 'EVENT', owner: 'team-b', source: 'GIT', projectId: 'p 1' };
    await publish(call, { id: 'e', ...facts, groupPath: 'a/b', title: 'Orders' });
    await publish(call, { id: 'f', groupPath: 'a/b' });
    const query =
      'type=EVENT&owner=team-b&source=GIT&projectId=p%201&groupPath=a&q=ORDERS%20team-b&lifecycle=PUBLISHED';
    expect(idsOf(await call('GET', `?${query}`))).toEqual(['e@1.0.0']);
    for (const filter of query.split('&').slice(0, -1))
      expect(idsOf(await call('GET', `?${filter}`))).toContain('e@1.0.0');
    expect(idsOf(await call('GET', '?groupPath=a'))).toHaveLength(2);
  });

  test('every wrong filter is reported, with the words that are configured', async () => {
    const { callCatalog: call } = openWorld();
    const wrong =
      'type=DATASET&source=no&lifecycle=x&versions=none&groupPath=/a&owner=&titel=x&limit=0&q=-';
    const refused = await call('GET', `?${wrong}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'validation-failed']);
    const errors = refused.body.errors as { parameter: string; detail: string }[];
    expect(errors.map(({ parameter }) => parameter).toSorted()).toEqual(
      wrong
        .split('&')
        .map((part) => part.split('=', 1).join(''))
        .toSorted(),
    );
    expect(errors.find(({ parameter }) => parameter === 'type')?.detail).toContain('DASHBOARD');
  });

  test('a word that is configured no more is refused, also where it was used before', async () => {
    let types: string[] = ['DASHBOARD'];
    const { callCatalog: call } = openWorld({
      catalog: {
        rules: () => ({ ...catalogRules, types }),
      },
    });
    expect((await call('GET', '?type=DASHBOARD')).status).toBe(200);
    types = [];
    expect((await call('GET', '?type=DASHBOARD')).status).toBe(400);
  });

  test('a cursor alone repeats its filters', async () => {
    const { callCatalog: call } = openWorld();
    for (const id of ['a', 'b', 'c']) await publish(call, { id, groupPath: 'shop' });
    await publish(call, { id: 'x', owner: 'team-b' });
    await publish(call, { id: 'b', version: '2.0.0', groupPath: 'shop' });
    const filters = 'q=pet&versions=all&owner=team-a&groupPath=shop&lifecycle=PUBLISHED&type=API';
    const whole = idsOf(await call('GET', `?${filters}`));
    const first = await call('GET', `?limit=1&${filters}`);
    const { nextCursor } = first.body.pagination;
    expect(whole).toHaveLength(4);
    for (const beside of ['', `&${filters}`, '&versions=all&q=pet'])
      expect(idsOf(await call('GET', `?cursor=${nextCursor}${beside}`))).toEqual(whole.slice(1));
  });

  test('a cursor is bound to its filters, its list and its workspace, but not to its limit', async () => {
    const { callCatalog: call } = openWorld();
    for (const id of ['a', 'b', 'c']) await publish(call, { id });
    const { nextCursor } = (await call('GET', '?limit=1&type=API')).body.pagination;
    expect(idsOf(await call('GET', `?limit=2&type=API&cursor=${nextCursor}`))).toEqual([
      'b@1.0.0',
      'a@1.0.0',
    ]);
    const wrong = [
      `?type=API&versions=all&cursor=${nextCursor}`,
      `?type=API&cursor=${String(nextCursor).slice(0, -1)}`,
      `?type=API&cursor=`,
      `/a/versions?cursor=${nextCursor}`,
      `/a/audit?cursor=${nextCursor}`,
    ];
    for (const path of wrong) {
      const refused = await call('GET', path);
      expect({ path, status: refused.status }).toEqual({ path, status: 400 });
      expect(refused.body.code).toBe('invalid-cursor');
    }
    const differing = await call('GET', `?type=API&versions=all&q=a&cursor=${nextCursor}`);
    expect(differing.body.errors).toMatchObject([
      { parameter: 'q', code: 'differs' },
      { parameter: 'versions', code: 'differs' },
    ]);
    const foreign = await call('GET', `?type=API&cursor=${nextCursor}`, {
      as: { workspaceId: 'other' },
    });
    expect(foreign.body.code).toBe('invalid-cursor');
  });
});
