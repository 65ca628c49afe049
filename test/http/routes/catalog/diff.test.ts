import { expect, test, vi } from 'vitest';
import { type Call, openWorld } from '../../../support/world.ts';
import { petstore, petApi } from '../../../support/catalog.ts';

async function make(call: Call, version: string, facts: object = {}): Promise<void> {
  const made = await call('POST', '', { body: { ...petstore, version, ...facts } });
  expect(made.status).toBe(201);
}

async function publish(call: Call, version: string, facts: object = {}): Promise<void> {
  await make(call, version, facts);
  expect((await call('POST', `/petstore/publish?version=${version}`)).status).toBe(200);
}

test('two versions are compared, breaking changes first, without a word too many', async () => {
  const { callCatalog: call } = openWorld();
  await make(call, '1.0.0', { spec: petApi('/pets', '/dogs') });
  await make(call, '2.0.0', { spec: petApi('/pets', '/cats'), owner: 'team-b' });
  const diff = await call('GET', '/PetStore/diff?from=1.0.0&to=2.0.0');
  expect(diff.status).toBe(200);
  expect(diff.body).toEqual({
    from: '1.0.0',
    to: '2.0.0',
    breaking: true,
    changes: [
      { path: '/spec/paths/~1dogs', kind: 'removed', impact: 'breaking', text: 'the path is gone' },
      { path: '/owner', kind: 'changed', impact: 'compatible', text: 'from "team-a" to "team-b"' },
      { path: '/spec/paths/~1cats', kind: 'added', impact: 'compatible', text: 'added' },
    ],
  });
  expect(diff.headers).toMatchObject({
    'cache-control': 'private, no-cache',
    vary: 'Authorization, X-API-KEY',
    'content-location': '/api/v1/catalog/PetStore/diff?from=1.0.0&to=2.0.0',
  });
  const back = await call('GET', '/petstore/diff?from=2.0.0&to=1.0.0');
  expect(back.body).toMatchObject({ from: '2.0.0', to: '1.0.0', breaking: true });
  const same = await call('GET', '/petstore/diff?from=1.0.0&to=1.0.0');
  expect(same.body).toEqual({ from: '1.0.0', to: '1.0.0', breaking: false, changes: [] });
});

test('by default the default version is compared with the highest readable one below it', async () => {
  const { callCatalog: call } = openWorld();
  await publish(call, '1.0.0');
  await publish(call, '1.1.0');
  await make(call, '1.2.0');
  await publish(call, '2.0.0');
  await make(call, '3.0.0');
  const between = async (query: string) => {
    const { body } = await call('GET', `/petstore/diff${query}`);
    return [body.from, body.to];
  };
  expect(await between('')).toEqual(['1.1.0', '2.0.0']);
  expect(await between('?to=3.0.0')).toEqual(['2.0.0', '3.0.0']);
  expect(await between('?from=3.0.0')).toEqual(['3.0.0', '2.0.0']);
  await call('POST', '/petstore/deprecate?version=1.1.0');
  expect(await between('')).toEqual(['1.1.0', '2.0.0']);
  await call('POST', '/petstore/retire?version=1.1.0');
  expect(await between('')).toEqual(['1.0.0', '2.0.0']);
  await call('PUT', '/petstore/default?version=1.0.0');
  const none = await call('GET', '/petstore/diff');
  expect(none.status).toBe(400);
  expect(none.body.errors).toEqual([expect.objectContaining({ parameter: 'from' })]);
});

test('the version below is chosen without reading what the others hold', async () => {
  const { callCatalog: call, database } = openWorld();
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) await publish(call, version);
  const all = vi.spyOn(database, 'all');
  expect((await call('GET', '/petstore/diff')).body).toMatchObject({ from: '1.1.0' });
  const rows = (await Promise.all(all.mock.results.map(({ value }) => value))).flat();
  expect(new Set(rows.map(({ version }) => version))).toEqual(new Set(['1.0.0', '1.1.0', '2.0.0']));
  for (const row of rows) expect(row).not.toHaveProperty('title');
});

test('of more than 1,000 changes it is said that there are more', async () => {
  const { callCatalog: call } = openWorld();
  const paths = Array.from({ length: 1001 }, (_, at) => `/p${at}`);
  await make(call, '1.0.0', { spec: petApi() });
  await make(call, '2.0.0', { spec: petApi(...paths) });
  const { body } = await call('GET', '/petstore/diff?from=1.0.0&to=2.0.0');
  expect([body.changes.length, body.truncated]).toEqual([1000, true]);
});

test.each([
  ['/nothing/diff', 404, 'artifact-not-found'],
  ['/petstore/diff', 404, 'no-published-version'],
  ['/petstore/diff?from=9&to=1.0.0', 404, 'artifact-not-found'],
  ['/petstore/diff?from=1.0.0&to=9', 404, 'artifact-not-found'],
  ['/petstore/diff?from=/&to=1.0.0', 400, 'validation-failed'],
  ['/petstore/diff?version=1.0.0', 400, 'validation-failed'],
])('%s is refused', async (path, status, code) => {
  const { callCatalog: call } = openWorld();
  await make(call, '1.0.0');
  const refused = await call('GET', path);
  expect([refused.status, refused.body.code]).toEqual([status, code]);
});
