import { describe, expect, test } from 'vitest';
import type { Lifecycle } from '#catalog/version/artifact.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { catalogRules, petstore } from '../../../support/catalog.ts';
import { type Call, openWorld } from '../../../support/world.ts';

/** The statuses of calls that were made at once, ascending. */
const statusesOf = (replies: readonly { status: number }[]): number[] =>
  replies.map(({ status }) => status).toSorted((left, right) => left - right);

async function make(call: Call, lifecycle: Lifecycle, facts: object = {}): Promise<string> {
  const made = await call('POST', '', { body: { ...petstore, ...facts } });
  const { id, version } = made.body;
  const steps = { DRAFT: 0, PUBLISHED: 1, DEPRECATED: 2, RETIRED: 3 }[lifecycle];
  for (const action of ['publish', 'deprecate', 'retire'].slice(0, steps)) {
    const moved = await call('POST', `/${id}/${action}?version=${version}`);
    expect(moved.status).toBe(200);
  }
  return version;
}

test('a step that the lifecycle allows is taken, and the response is what a read gives then', async () => {
  const { callCatalog: call } = openWorld();
  const version = await make(call, 'DRAFT');
  for (const [action, end] of [
    ['publish', 'PUBLISHED'],
    ['deprecate', 'DEPRECATED'],
    ['reinstate', 'PUBLISHED'],
    ['deprecate', 'DEPRECATED'],
    ['retire', 'RETIRED'],
  ]) {
    const inUse = action === 'retire' ? '&early=true' : '';
    const moved = await call('POST', `/petstore/${action}?version=${version}${inUse}`);
    const read = await call('GET', `/petstore?version=${version}`);
    expect([moved.status, moved.body.lifecycle]).toEqual([200, end]);
    expect(moved.body).toEqual(read.body);
    expect(moved.headers['etag']).toBe(read.headers['etag']);
    expect(moved.headers['content-location']).toBe(`/api/v1/catalog/petstore?version=${version}`);
  }
});

test('a step that is not allowed is refused with those that are, and changes nothing', async () => {
  const { callCatalog: call } = openWorld();
  const path = `/petstore?version=${await make(call, 'DRAFT')}`;
  const before = await call('GET', path);
  const refused = await call('POST', path.replace('?', '/deprecate?'));
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({
    code: 'invalid-lifecycle-transition',
    current: 'DRAFT',
    allowed: ['publish', 'replace', 'edit', 'delete'],
  });
  const after = await call('GET', path);
  expect([after.text, after.headers['etag']]).toEqual([before.text, before.headers['etag']]);
});

test('what is published is not replaced or deleted, and what is retired not edited', async () => {
  const { callCatalog: call } = openWorld();
  const { id: _id, ...content } = petstore;
  const headers = { 'if-match': '*' };
  const path = `/petstore?version=${await make(call, 'PUBLISHED')}`;
  for (const refused of [
    await call('PUT', path, { headers, body: content }),
    await call('DELETE', path, { headers }),
  ]) {
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'not-a-draft', current: 'PUBLISHED' });
  }
  const retired = `/petstore?version=${await make(call, 'RETIRED')}`;
  const edited = await call('PATCH', retired, { headers, body: { title: 'New' } });
  expect(edited.body).toMatchObject({ code: 'invalid-lifecycle-transition', current: 'RETIRED' });
});

test.each(['DRAFT', 'RETIRED'] as const)('a %s version is no default', async (current) => {
  const { callCatalog: call } = openWorld();
  const version = await make(call, current);
  const refused = await call('PUT', `/petstore/default?version=${version}`);
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ code: 'invalid-lifecycle-transition', current });
});

describe('publish', () => {
  test('without a version takes the only draft', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED');
    await make(call, 'DRAFT');
    expect((await call('POST', '/petstore/publish')).body.version).toBe('1.1.0');
  });

  test.each([0, 2])('without a version and with %i drafts is refused', async (drafts) => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED');
    for (let draft = 0; draft < drafts; draft += 1) await make(call, 'DRAFT');
    const refused = await call('POST', '/petstore/publish');
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([expect.objectContaining({ parameter: 'version' })]);
  });

  test('of two at once one wins, and the other learns why', async () => {
    const { callCatalog: call } = openWorld();
    const version = await make(call, 'DRAFT');
    const all = await Promise.all(
      [1, 2].map(() => call('POST', `/petstore/publish?version=${version}`)),
    );
    expect(statusesOf(all)).toEqual([200, 409]);
    expect(all.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'invalid-lifecycle-transition',
      current: 'PUBLISHED',
      allowed: ['deprecate', 'edit'],
    });
    const { items } = (await call('GET', '/petstore/audit')).body;
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'artifact.publish',
      'artifact.create',
    ]);
  });

  const spec = { openapi: '3.0.3', info: { title: 'x', version: '1' } };

  test('of a spec with findings is refused with them, and it stays a draft', async () => {
    const { callCatalog: call } = openWorld();
    const made = await call('POST', '', { body: { ...petstore, spec } });
    expect(made).toMatchObject({ status: 201, body: { findings: [{ code: 'required' }] } });
    const refused = await call('POST', '/petstore/publish');
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ code: 'spec-invalid', errors: made.body.findings });
    expect((await call('GET', '/petstore?version=1.0.0')).body.lifecycle).toBe('DRAFT');
  });

  test('is done in spite of findings where the operator says that they only warn', async () => {
    const { callCatalog: call } = openWorld({
      catalog: { rules: () => ({ ...catalogRules, findings: 'warn' }) },
    });
    await make(call, 'DRAFT', { spec });
    const published = await call('POST', '/petstore/publish');
    expect(published).toMatchObject({ status: 200, body: { findings: [{ code: 'required' }] } });
  });

  test('If-Match is honoured where it is sent', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, 'DRAFT');
    const stale = await call('POST', '/petstore/publish', { headers: { 'if-match': '"x"' } });
    expect(stale.status).toBe(412);
    const { headers } = await call('GET', '/petstore?version=1.0.0');
    const published = await call('POST', '/petstore/publish', {
      headers: { 'if-match': String(headers['etag']) },
    });
    expect(published.status).toBe(200);
  });
});

describe('deprecate', () => {
  test('without a version takes the one that a read returns', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED', { version: '1.0.0' });
    await make(call, 'PUBLISHED', { version: '2.0.0' });
    await make(call, 'PUBLISHED', { version: '3.0.0-rc.1' });
    const deprecated = await call('POST', '/petstore/deprecate');
    expect(deprecated.body).toMatchObject({ version: '2.0.0', lifecycle: 'DEPRECATED' });
    expect(deprecated.body).not.toHaveProperty('sunsetAt');
    expect((await call('GET', '/petstore')).body.version).toBe('1.0.0');
  });

  test.each([
    ['DEPRECATED', 'The default version is DEPRECATED: name it with `version` to deprecate it.'],
    ['RETIRED', '"deprecate" is not possible for a RETIRED version. Nothing changes it any more.'],
  ] as const)('without a version is refused when all that is left is %s', async (state, detail) => {
    const { callCatalog: call } = openWorld();
    await make(call, state);
    const refused = await call('POST', '/petstore/deprecate');
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      code: 'invalid-lifecycle-transition',
      current: state,
      detail: expect.stringContaining(detail),
    });
  });

  test.each([
    ['2027-01-01T00:00:00%2B02:00', '2026-12-31T22:00:00Z'],
    ['2026-03-01', '2026-03-01T23:59:59Z'],
  ])('sunset=%s is %s', async (given, sunsetAt) => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED');
    const deprecated = await call('POST', `/petstore/deprecate?sunset=${given}`);
    expect(deprecated.status).toBe(200);
    expect(deprecated.body.sunsetAt).toBe(sunsetAt);
  });

  test.each([
    ['now', '2026-03-01T12:00:00Z'],
    ['yesterday', '2026-02-28'],
    ['without a zone', '2027-01-01T00:00:00'],
    ['nothing', ''],
  ])('a sunset that is %s is refused', async (_name, sunset) => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED');
    const refused = await call('POST', `/petstore/deprecate?sunset=${sunset}`);
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([expect.objectContaining({ parameter: 'sunset' })]);
    expect((await call('GET', '/petstore')).body.lifecycle).toBe('PUBLISHED');
  });

  test('repeated with its key, the sunset in the past meanwhile, gets the first response', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, 'PUBLISHED');
    const path = '/petstore/deprecate?sunset=2026-03-01T13:00:00Z';
    const headers = { 'idempotency-key': 'k' };
    const first = await call('POST', path, { headers });
    await clock.advance(2 * HOUR);
    const again = await call('POST', path, { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const other = await call('POST', path, { headers: { 'idempotency-key': 'l' } });
    expect(other.body.errors).toMatchObject([{ parameter: 'sunset', code: 'out-of-range' }]);
  });

  test('again without another sunset changes nothing', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, 'PUBLISHED');
    const first = await call('POST', '/petstore/deprecate?sunset=2027-01-01T00:00:00Z');
    await clock.advance(5000);
    const again = await call('POST', '/petstore/deprecate?version=1.0.0');
    expect([again.headers['etag'], again.body]).toEqual([first.headers['etag'], first.body]);
    expect((await call('GET', '/petstore/audit')).body.items).toHaveLength(3);
  });

  test('responses show the deprecation, the sunset and the successor', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, 'PUBLISHED', { version: '1.0.0' });
    await clock.advance(999);
    await call('POST', '/petstore/deprecate?version=1.0.0&sunset=2026-11-08T09:10:11.900Z');
    const alone = await call('GET', '/petstore');
    expect(alone.headers).toMatchObject({
      deprecation: '@1772366400',
      sunset: 'Sun, 08 Nov 2026 09:10:11 GMT',
      link: '</api/v1/catalog/petstore/versions>; rel="version-history"',
    });
    await make(call, 'PUBLISHED', { version: '2.0.0' });
    const old = await call('GET', '/petstore?version=1.0.0');
    expect(old.headers['link']).toBe(
      '</api/v1/catalog/petstore?version=2.0.0>; rel="successor-version", </api/v1/catalog/petstore/versions>; rel="version-history"',
    );
    const current = await call('GET', '/petstore');
    for (const name of ['deprecation', 'sunset', 'link'])
      expect(current.headers).not.toHaveProperty(name);
  });

  test('a sunset is never shown earlier than the deprecation', async () => {
    const { callCatalog: call, clock } = openWorld();
    await make(call, 'PUBLISHED');
    await clock.advance(1);
    const { headers } = await call('POST', '/petstore/deprecate?sunset=2026-03-01T12:00:00.500Z');
    const deprecated = Number(String(headers['deprecation']).slice(1)) * 1000;
    expect(Date.parse(String(headers['sunset']))).toBeGreaterThanOrEqual(deprecated);
  });
});

test('retire without a version takes the only deprecated one, and it can still be read by name', async () => {
  const { callCatalog: call } = openWorld();
  await make(call, 'PUBLISHED');
  await make(call, 'DEPRECATED');
  const retired = await call('POST', '/petstore/retire');
  expect(retired.body).toMatchObject({ version: '1.1.0', lifecycle: 'RETIRED' });
  expect((await call('GET', '/petstore?version=1.1.0')).body.lifecycle).toBe('RETIRED');
  expect((await call('POST', '/petstore/retire')).status).toBe(400);
});

test('retire waits for the sunset, unless it is told not to, which the audit keeps', async () => {
  const { callCatalog: call, clock } = openWorld();
  await make(call, 'PUBLISHED');
  await call('POST', '/petstore/deprecate?sunset=2026-03-02T12:00:00Z');
  const refused = await call('POST', '/petstore/retire?early=false');
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({
    code: 'version-in-use',
    detail: expect.stringMatching(/2026-03-02T12:00:00Z.*`early=true`/),
    errors: [{ parameter: 'early', code: 'required' }],
    current: 'DEPRECATED',
    allowed: ['deprecate', 'reinstate', 'edit'],
    readers: [],
  });
  expect((await call('POST', '/petstore/retire?early=yes')).status).toBe(400);
  const retired = await call('POST', '/petstore/retire?early=true');
  expect(retired.body).toMatchObject({ lifecycle: 'RETIRED', sunsetAt: '2026-03-02T12:00:00Z' });
  const lastAudited = async () => (await call('GET', '/petstore/audit?limit=1')).body.items[0];
  expect((await lastAudited()).changes).toEqual({ lifecycle: 'RETIRED', early: true });
  await make(call, 'PUBLISHED');
  await call('POST', '/petstore/deprecate?sunset=2026-03-02T12:00:00Z');
  await clock.advance(DAY);
  const late = await call('POST', '/petstore/retire?early=true');
  expect(late.body).toMatchObject({ version: '1.1.0', lifecycle: 'RETIRED' });
  expect((await lastAudited()).changes).toEqual({ lifecycle: 'RETIRED' });
});

describe('the default version', () => {
  test('is computed again once it is unset, which can be repeated and is audited once', async () => {
    const { callCatalog: call } = openWorld();
    for (const version of ['1.0.0', '2.0.0']) await make(call, 'PUBLISHED', { version });
    await call('PUT', '/petstore/default?version=1.0.0');
    for (const _time of [1, 2]) {
      const unset = await call('DELETE', '/petstore/default');
      expect([unset.status, unset.body.version]).toEqual([200, '2.0.0']);
      expect(unset.headers['content-location']).toBe('/api/v1/catalog/petstore?version=2.0.0');
    }
    const { items } = (await call('GET', '/petstore/audit?limit=2')).body;
    expect(items).toMatchObject([
      { action: 'artifact.unset-default', version: '1.0.0', actor: { subject: 'owner' } },
      { action: 'artifact.set-default' },
    ]);
  });

  test('that is set already leaves no trace in the audit when it is set again', async () => {
    const { callCatalog: call } = openWorld();
    const version = await make(call, 'PUBLISHED');
    const first = await call('PUT', `/petstore/default?version=${version}`);
    const again = await call('PUT', `/petstore/default?version=${version}`);
    expect([again.status, again.text, again.headers['etag']]).toEqual([
      200,
      first.text,
      first.headers['etag'],
    ]);
    const { items } = (await call('GET', '/petstore/audit')).body;
    expect(items).toMatchObject([
      { action: 'artifact.set-default' },
      { action: 'artifact.publish' },
      { action: 'artifact.create' },
    ]);
  });

  test('is unset only as it was seen, by a caller who says so', async () => {
    const { callCatalog: call } = openWorld();
    for (const version of ['1.0.0', '2.0.0']) await make(call, 'PUBLISHED', { version });
    await call('PUT', '/petstore/default?version=1.0.0');
    const other = (await call('GET', '/petstore?version=2.0.0')).headers['etag'];
    const headers = { 'if-match': String(other) };
    expect((await call('DELETE', '/petstore/default', { headers })).status).toBe(412);
    expect((await call('GET', '/petstore')).body.version).toBe('1.0.0');
  });

  test('of drafts alone there is none to unset', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, 'DRAFT');
    const refused = await call('DELETE', '/petstore/default');
    expect([refused.status, refused.body.code]).toEqual([404, 'no-published-version']);
  });

  test('must be named', async () => {
    const { callCatalog: call } = openWorld();
    await make(call, 'PUBLISHED');
    const refused = await call('PUT', '/petstore/default');
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([expect.objectContaining({ parameter: 'version' })]);
  });
});

test('a step of what is not there is a 404', async () => {
  const { callCatalog: call } = openWorld();
  await make(call, 'PUBLISHED');
  for (const path of ['/petstore/retire?version=9.9.9', '/nothing/publish', '/nothing/deprecate']) {
    const { status, body } = await call('POST', path);
    expect([status, body.code]).toEqual([404, 'artifact-not-found']);
  }
});

test('a request that takes no body has an empty one at most', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: { id: 'pets', type: 'API', owner: 'a', title: 'Pets' } });
  const headers = { 'content-type': 'application/json', 'if-match': '*' };
  for (const raw of ['{"sunset":"2099-01-01T00:00:00Z"}', 'null']) {
    const refused = await call('POST', '/pets/publish?version=1.0.0', { raw, headers });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '#' }] });
  }
  const all = await call('POST', '/pets/deprecate?version=/&sunset=2020-01-01&x=1', {
    raw: '[]',
    headers: { 'if-match': 'x' },
  });
  expect(all.body.errors).toMatchObject([
    { parameter: 'version' },
    { parameter: 'x' },
    { header: 'If-Match' },
    { pointer: '#' },
    { parameter: 'sunset', code: 'out-of-range' },
  ]);
  const broken = await call('POST', '/pets/publish?version=1.0.0', { raw: '{', headers });
  expect(broken.body.code).toBe('malformed-json');
  const published = await call('POST', '/pets/publish?version=1.0.0', { raw: '', headers });
  expect(published.status).toBe(200);
  const deprecated = await call('POST', '/pets/deprecate?version=1.0.0', { body: {} });
  expect(deprecated.status).toBe(200);
  await call('POST', '', { body: { id: 'pets', type: 'API', owner: 'a', title: 'Pets' } });
  const deleted = await call('DELETE', '/pets?version=1.1.0', { raw: '', headers });
  expect(deleted.status).toBe(204);
  const created = await call('POST', '', { raw: '', headers });
  expect(created.body.code).toBe('malformed-json');
});
