/** What guards each page and action of the catalog: who may, from where, and whose texts are only texts. */
import { expect, test } from 'vitest';
import { catalogPages } from '#portal/pages/catalog/routes.ts';
import type { PortalRoutes } from '#portal/routes/route-types.ts';
import { hostile, isInert } from '../../shell/support.ts';
import { origin, setUp } from './support.ts';

const all = ['catalog:read', 'catalog:write', 'catalog:publish', 'trackport:admin'];

const VERSION = '/portal/catalog/:id/versions/:version';

/** Each path with the scope that it needs. */
const pages: Record<string, string> = {
  '/portal/catalog': 'catalog:read',
  '/portal/catalog/:id': 'catalog:read',
  '/portal/catalog/:id/spec': 'catalog:read',
  '/portal/catalog/-/new': 'catalog:write',
  [`${VERSION}/edit`]: 'catalog:write',
  [`${VERSION}/delete`]: 'catalog:write',
  [`${VERSION}/publish`]: 'catalog:publish',
  [`${VERSION}/deprecate`]: 'catalog:publish',
  [`${VERSION}/retire`]: 'catalog:publish',
  [`${VERSION}/unset-default`]: 'catalog:publish',
};
const actions: Record<string, string> = {
  '/portal/catalog/-/new': 'catalog:write',
  [`${VERSION}/edit`]: 'catalog:write',
  [`${VERSION}/describe`]: 'catalog:write',
  [`${VERSION}/delete`]: 'catalog:write',
  [`${VERSION}/publish`]: 'catalog:publish',
  [`${VERSION}/deprecate`]: 'catalog:publish',
  [`${VERSION}/retire`]: 'catalog:publish',
  [`${VERSION}/unset-default`]: 'catalog:publish',
  [`${VERSION}/reinstate`]: 'catalog:publish',
  [`${VERSION}/default`]: 'catalog:publish',
};

/** 1.0.0 is a draft, 0.9.0 deprecated: each page is there where its action is possible. */
const versionFor = (path: string): string =>
  /\/(?:deprecate|retire|unset-default)$/.test(path) ? '0.9.0' : '1.0.0';

const addressOf = (path: string): string =>
  path.replace(':id', 'leads').replace(':version', versionFor(path)) +
  (path.endsWith('/spec') ? '?version=1.0.0' : '');

test('every page and action stands in the tables of this file', () => {
  const found = { pages: new Set<string>(), actions: new Set<string>() };
  const routes: PortalRoutes = {
    page: (path) => void found.pages.add(path),
    action: (path, { page, confirm }) => {
      found.actions.add(path);
      if (page ?? confirm) found.pages.add(path);
    },
  };
  catalogPages(routes, {} as Parameters<typeof catalogPages>[1]);
  expect([...found.pages].toSorted()).toEqual(Object.keys(pages).toSorted());
  expect([...found.actions].toSorted()).toEqual(Object.keys(actions).toSorted());
});

async function open() {
  const portal = setUp();
  const texts = { title: hostile, owner: hostile, description: hostile, groupPath: hostile };
  const specText = JSON.stringify({ openapi: '3.1.0', paths: { [hostile]: hostile } });
  const content = { ...texts, projectId: hostile, counts: { [hostile]: 1 }, specText };
  await portal.create({ ...texts, version: '0.9.0' });
  await portal.publish('0.9.0');
  const deprecate = { id: 'leads', version: '0.9.0', action: 'deprecate' } as const;
  await portal.catalog.changeLifecycle(origin, deprecate);
  await portal.create({ ...content, version: '1.0.0', members: ['member'] });
  await portal.create({ id: 'member', ...texts });
  const publish = { id: 'member', version: '1.0.0', action: 'publish' } as const;
  await portal.catalog.changeLifecycle(origin, publish);
  const stateOf = async () => {
    const { items } = await portal.catalog.list(
      { workspaceId: 'default' },
      { limit: 10, versions: 'all' },
    );
    return items;
  };
  return { ...portal, content, stateOf };
}

test('each page is for those with its scope alone', async () => {
  const { signIn } = await open();
  for (const [path, scope] of Object.entries(pages)) {
    const others = await signIn(all.filter((name) => name !== scope));
    expect([path, (await others.get(addressOf(path))).status]).toEqual([path, 403]);
    const one = await signIn([scope]);
    expect([path, (await one.get(addressOf(path))).status]).toEqual([path, 200]);
  }
});

test('no page of another workspace is there', async () => {
  const { signIn } = await open();
  const principal = { subject: 'x', clientId: 'portal', scopes: all, workspaceId: 'other' };
  const stranger = await signIn(all, { principal });
  for (const path of Object.keys(pages).filter((one) => one.includes(':id')))
    expect([path, (await stranger.get(addressOf(path))).status]).toEqual([path, 404]);
});

test('no page takes a text for markup', async () => {
  const { signIn } = await open();
  const owner = await signIn(all);
  for (const path of Object.keys(pages).filter((one) => !one.endsWith('/spec'))) {
    const query = path.endsWith('/new') ? '?id=leads&version=1.0.0' : '';
    const { status, body } = await owner.get(addressOf(path) + query);
    expect([path, status]).toEqual([path, 200]);
    expect([path, isInert(body), body.includes('&lt;script&gt;')]).toEqual([path, true, true]);
  }
});

const anyForm = { seen: '"x"', typed: '1.0.0' };

test('each action is for those with its scope alone, and changes nothing for others', async () => {
  const { signIn, stateOf } = await open();
  const before = await stateOf();
  for (const [path, scope] of Object.entries(actions)) {
    const others = await signIn(all.filter((name) => name !== scope));
    expect([path, (await others.post(addressOf(path), anyForm)).status]).toEqual([path, 403]);
  }
  expect(await stateOf()).toEqual(before);
  for (const [path, scope] of Object.entries(actions)) {
    const { status } = await (await signIn([scope])).post(addressOf(path), anyForm);
    expect([path, status]).not.toEqual([path, 403]);
  }
});

test('each action is refused to a stolen form, and changes nothing', async () => {
  const { signIn, stateOf } = await open();
  const [owner, another] = [await signIn(all), await signIn(all, { name: 'Otto' })];
  const before = await stateOf();
  const formToken = await another.formToken();
  for (const path of Object.keys(actions)) {
    const attempts = [
      await owner.post(addressOf(path), anyForm, { formToken: null }),
      await owner.post(addressOf(path), anyForm, { formToken }),
      await owner.post(addressOf(path), anyForm, { headers: { origin: 'https://evil.example' } }),
    ];
    const statuses = attempts.map(({ status }) => status);
    expect([path, ...statuses]).toEqual([path, 403, 403, 403]);
  }
  expect(await stateOf()).toEqual(before);
});

test('a form that comes back takes nothing that was typed for markup', async () => {
  const { signIn } = await open();
  const owner = await signIn(all);
  const fields = { title: hostile, owner: hostile, description: hostile, groupPath: hostile };
  const form = { ...fields, type: hostile, source: hostile, projectId: hostile };
  const typed = { ...form, id: hostile, version: hostile, members: hostile, counts: hostile };
  const omitted = { 'omitted.spec': `12 ${hostile}`, 'omitted.members': `1 held ${hostile}` };
  const posts: [string, Record<string, string>][] = [
    ['/portal/catalog/-/new', { ...typed, spec: hostile }],
    ['/portal/catalog/-/new', { ...typed, members: '', spec: '', ...omitted }],
    [`${VERSION}/edit`, { ...typed, spec: hostile, seen: hostile }],
    [`${VERSION}/describe`, { ...fields, seen: hostile }],
    [`${VERSION}/publish`, { seen: hostile }],
    [`${VERSION}/delete`, { typed: hostile, seen: hostile }],
  ];
  for (const [path, given] of posts) {
    const { status, body } = await owner.post(addressOf(path), given);
    expect([path, status, isInert(body)]).toEqual([path, 422, true]);
  }
});
