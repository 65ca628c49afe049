import { describe, expect, test } from 'vitest';
import { type Call, openWorld } from '../../../support/world.ts';

const content = { type: 'API', owner: 'team-a', title: 'Pet store' };
const path = '/petstore?version=1.0.0';

async function make(call: Call, facts: object = {}): Promise<string> {
  const made = await call('POST', '', { body: { id: 'petstore', ...content, ...facts } });
  expect(made.status).toBe(201);
  return String(made.headers['etag']);
}

const any = { 'if-match': '*' };

describe.each([
  ['PUT', { body: { ...content, title: 'New' } }],
  ['PATCH', { body: { title: 'New' } }],
  ['DELETE', {}],
] as const)('%s', (method, options) => {
  test.each([
    ['none', {}, 428, 'precondition-required'],
    ['a stale one', { 'if-match': '"a", "b"' }, 412, 'precondition-failed'],
    ['a broken one', { 'if-match': 'nonsense' }, 400, 'validation-failed'],
  ])('refuses %s', async (_what, headers, status, code) => {
    const { callCatalog: call } = openWorld();
    await make(call);
    const refused = await call(method, path, { ...options, headers });
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ code });
    if (status !== 412) expect(refused.body.errors).toMatchObject([{ header: 'If-Match' }]);
  });

  test('a weak tag never matches, not even the right one', async () => {
    const { callCatalog: call } = openWorld();
    const etag = await make(call);
    const refused = await call(method, path, { ...options, headers: { 'if-match': `W/${etag}` } });
    expect([refused.status, refused.body.code]).toEqual([412, 'precondition-failed']);
    expect(refused.body.errors).toMatchObject([{ header: 'If-Match', code: 'weak' }]);
  });

  test('takes the current tag, also among others, and `*`', async () => {
    for (const tagOf of [
      (etag: string) => etag,
      (etag: string) => `"x", W/"y", ${etag}`,
      () => '*',
    ]) {
      const { callCatalog: call } = openWorld();
      const headers = { 'if-match': tagOf(await make(call)) };
      const changed = await call(method, path, { ...options, headers });
      expect(changed.status).toBe(method === 'DELETE' ? 204 : 200);
    }
  });

  test('takes the tag of a version whose counts alone have changed', async () => {
    const { callCatalog: call } = openWorld();
    const etag = await make(call);
    await make(call, { version: '2.0.0' });
    expect((await call('GET', path)).headers['etag']).not.toBe(etag);
    const changed = await call(method, path, { ...options, headers: { 'if-match': etag } });
    expect([200, 204]).toContain(changed.status);
  });

  test('of what is not there is a 404, with or without If-Match', async () => {
    const { callCatalog: call } = openWorld();
    for (const headers of [{}, any]) {
      const unknown = await call(method, path, { ...options, headers });
      expect(unknown.status).toBe(404);
      expect(unknown.body.code).toBe('artifact-not-found');
    }
  });
});

describe('PUT', () => {
  test('replaces all of the content: what is left out is gone', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, {
      description: 'Old',
      groupPath: 'a',
      projectId: 'p',
      members: ['m'],
      counts: { a: 1 },
      spec: { a: 1 },
      source: 'GIT',
    });
    await clock.advance(1000);
    const replaced = await call('PUT', path, {
      headers: any,
      body: { type: 'EVENT', owner: 'team-b', title: 'New', spec: { b: null } },
    });
    expect(replaced.body).toEqual({
      id: 'petstore',
      version: '1.0.0',
      type: 'EVENT',
      owner: 'team-b',
      title: 'New',
      lifecycle: 'DRAFT',
      source: 'INLINE',
      createdAt: '2026-03-01T12:00:00Z',
      updatedAt: '2026-03-01T12:00:01Z',
      workspaceId: 'default',
      counts: { versions: 1, members: 0 },
      spec: { b: null },
    });
    expect((await call('GET', path)).body).toEqual(replaced.body);
    const bare = await call('PUT', path, { headers: any, body: content });
    expect(bare.body).not.toHaveProperty('spec');
  });

  test('without a version takes the only draft', async () => {
    const { callCatalog: call } = openWorld();
    await make(call);
    expect((await call('PUT', '/petstore', { headers: any, body: content })).status).toBe(200);
    await make(call);
    const refused = await call('PUT', '/petstore', { headers: any, body: content });
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([expect.objectContaining({ parameter: 'version' })]);
  });

  test('the name in the body may only be the one of the address', async () => {
    const { callCatalog: call } = openWorld();
    await make(call);
    const same = { ...content, id: 'PETSTORE', version: '1.0.0' };
    expect((await call('PUT', path, { headers: any, body: same })).status).toBe(200);
    const moved = { ...content, id: 'other', version: '2.0.0' };
    const refused = await call('PUT', path, { headers: any, body: moved });
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([
      expect.objectContaining({ pointer: '#/id', code: 'mismatch' }),
      expect.objectContaining({ pointer: '#/version', code: 'mismatch' }),
    ]);
  });
});

describe('PATCH', () => {
  test('changes four fields, also of a published version, and touches nothing else', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, { spec: { a: 1 }, counts: { a: 1 }, description: 'Old' });
    await call('POST', '/petstore/publish');
    const before = await call('GET', path);
    await clock.advance(1000);
    const patch = { title: 'New', owner: 'team-b', description: 'Newer', groupPath: 'x/y' };
    const edited = await call('PATCH', path, { headers: any, body: patch });
    expect(edited.body).toEqual({
      ...before.body,
      ...patch,
      updatedAt: '2026-03-01T12:00:01Z',
    });
    expect(edited.headers['etag']).not.toBe(before.headers['etag']);
  });

  test('null takes an optional field away', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, { description: 'Old', groupPath: 'a' });
    const edited = await call('PATCH', path, {
      headers: { ...any, 'content-type': 'application/merge-patch+json' },
      body: { description: null, groupPath: null },
    });
    expect(edited.status).toBe(200);
    for (const field of ['description', 'groupPath']) expect(edited.body).not.toHaveProperty(field);
  });

  test('what changes nothing leaves the version and its tag alone', async () => {
    const { callCatalog: call, clock } = openWorld();
    const etag = await make(call);
    await clock.advance(1000);
    for (const body of [{}, { title: content.title }, { description: null }]) {
      const edited = await call('PATCH', path, { headers: any, body });
      expect(edited.status).toBe(200);
      expect(edited.headers['etag']).toBe(etag);
    }
    expect((await call('GET', '/petstore/audit')).body.items).toHaveLength(1);
  });

  test('without a version takes the one that a read returns', async () => {
    const { callCatalog: call } = openWorld();
    await make(call);
    const refused = await call('PATCH', '/petstore', { headers: any, body: { title: 'New' } });
    expect(refused.body.code).toBe('no-published-version');
    await call('POST', '/petstore/publish');
    await make(call);
    const edited = await call('PATCH', '/petstore', { headers: any, body: { title: 'New' } });
    expect(edited.body).toMatchObject({ version: '1.0.0', title: 'New' });
  });

  test('is told everything that is wrong at once, what it does not take included', async () => {
    const { callCatalog: call } = openWorld();
    const wrong = {
      title: null,
      owner: 3,
      groupPath: '/',
      description: '\u0007',
      spec: {},
      more: 1,
    };
    const refused = await call('PATCH', '/petstore', { body: wrong });
    const errors = refused.body.errors as { pointer: string }[];
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(
      ['description', 'groupPath', 'more', 'owner', 'spec', 'title'].map((name) => `#/${name}`),
    );
  });
});

describe('DELETE', () => {
  test('takes the draft away, and with the last version the artifact', async () => {
    const { callCatalog: call } = openWorld();
    await make(call);
    const deleted = await call('DELETE', '/petstore', { headers: any });
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect(deleted.headers['content-location']).toBe('/api/v1/catalog/petstore?version=1.0.0');
    expect((await call('GET', '/petstore/versions')).status).toBe(404);
  });

  test('a version made anew under the same name has another tag', async () => {
    const { callCatalog: call } = openWorld();
    const former = await make(call);
    await call('DELETE', path, { headers: any });
    await make(call);
    const refused = await call('DELETE', path, { headers: { 'if-match': former } });
    expect(refused.status).toBe(412);
  });
});

test('the audit shows who changed which fields, newest first, with the request', async () => {
  const { callCatalog: call, clock } = openWorld();
  await make(call, { description: 'Old', spec: { a: 1 } });
  await clock.advance(1000);
  const edited = await call('PATCH', path, {
    headers: any,
    body: { title: 'New', description: 'secret plan' },
    as: { subject: 'someone', clientId: 'portal' },
  });
  await call('PUT', path, { headers: any, body: { ...content, groupPath: 'g', spec: { b: 2 } } });
  await call('POST', '/petstore/publish?version=1.0.0');
  await call('POST', '/petstore/deprecate?version=1.0.0&sunset=2027-01-01T00:00:00Z');
  await call('PUT', '/petstore/default?version=1.0.0');
  await call('POST', '/petstore/reinstate?version=1.0.0');
  const { body, text } = await call('GET', '/petstore/audit');
  expect(body.pagination).toEqual({ hasMore: false });
  type Entry = { action: string; changes?: object };
  expect(body.items.map(({ action, changes }: Entry) => [action, changes])).toEqual([
    ['artifact.reinstate', { lifecycle: 'PUBLISHED', sunsetAt: null }],
    ['artifact.set-default', undefined],
    ['artifact.deprecate', { lifecycle: 'DEPRECATED', sunsetAt: '2027-01-01T00:00:00Z' }],
    ['artifact.publish', { lifecycle: 'PUBLISHED' }],
    [
      'artifact.replace',
      { title: 'Pet store', groupPath: 'g', description: 'changed', spec: 'replaced' },
    ],
    ['artifact.edit', { title: 'New', description: 'changed' }],
    ['artifact.create', content],
  ]);
  expect(body.items[5]).toMatchObject({
    at: '2026-03-01T12:00:01Z',
    version: '1.0.0',
    actor: { kind: 'token', subject: 'someone', clientId: 'portal' },
    requestId: edited.headers['x-request-id'],
  });
  expect(text).not.toContain('secret plan');
});

test('a PUT of the content that is there leaves the draft, its tag and the audit log alone', async () => {
  const { callCatalog: call, clock } = openWorld();
  const facts = { spec: { a: 1 }, members: ['Later'], counts: { b: 1 }, source: 'GIT' };
  const etag = await make(call, facts);
  await clock.advance(1000);
  const same = await call('PUT', path, { headers: any, body: { ...content, ...facts } });
  expect([same.status, same.headers['etag'], same.body.spec]).toEqual([200, etag, facts.spec]);
  for (const change of [{ spec: { a: 2 } }, { members: ['other'] }, { counts: {} }]) {
    const before = (await call('GET', path)).headers['etag'];
    const body = { ...content, ...facts, ...change };
    expect((await call('PUT', path, { headers: any, body })).headers['etag']).not.toBe(before);
  }
  const { spec: _spec, ...without } = facts;
  const body = { ...content, ...without, counts: {} };
  expect((await call('PUT', path, { headers: any, body })).body).not.toHaveProperty('spec');
  expect((await call('GET', '/petstore/audit')).body.items).toHaveLength(5);
});
