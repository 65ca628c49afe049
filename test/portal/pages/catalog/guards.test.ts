/** Whose catalog the pages show, and that texts in it are only texts. */
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { deprecateVersion } from '#catalog/lifecycle/change-lifecycle.ts';
import { expect, test } from 'vitest';
import { hostile } from '../../shell/support.ts';
import { origin, setUp } from './support.ts';

/** Fails where a text became markup, or left its attribute. */
function isInert(html: { toString(): string }): boolean {
  const text = html.toString();
  return !text.includes('<script>') && !/="[^"]*"[^\s/>]/.test(text);
}

const all = ['catalog:read', 'catalog:write', 'catalog:publish', 'trackport:admin'];

const VERSION = '/portal/catalog/:id/versions/:version';

const pages = [
  '/portal/catalog',
  '/portal/catalog/:id',
  '/portal/catalog/:id/spec',
  '/portal/catalog/-/new',
  ...['edit', 'delete', 'publish', 'deprecate', 'retire', 'unset-default'].map(
    (below) => `${VERSION}/${below}`,
  ),
];

/** 1.0.0 is a draft, 0.9.0 deprecated: each page is there where its action is possible. */
const versionFor = (path: string): string =>
  /\/(?:deprecate|retire|unset-default)$/.test(path) ? '0.9.0' : '1.0.0';

const addressOf = (path: string): string =>
  path.replace(':id', 'leads').replace(':version', versionFor(path)) +
  (path.endsWith('/spec') ? '?version=1.0.0' : '');

async function open() {
  const portal = setUp();
  const texts = { title: hostile, owner: hostile, description: hostile, groupPath: hostile };
  const specText = JSON.stringify({ openapi: '3.1.0', paths: { [hostile]: hostile } });
  const content = { ...texts, projectId: hostile, counts: { [hostile]: 1 }, specText };
  await portal.create({ ...texts, version: '0.9.0' });
  await portal.publish('0.9.0');
  await deprecateVersion(portal.catalog, origin, { id: 'leads', version: '0.9.0' });
  await portal.create({ ...content, version: '1.0.0', members: ['member'] });
  await portal.create({ id: 'member', ...texts });
  await publishVersion(portal.catalog, origin, { id: 'member' });
  return portal;
}

test('no page of another workspace is there', async () => {
  const { signIn } = await open();
  const principal = { subject: 'x', clientId: 'portal', scopes: all, workspaceId: 'other' };
  const stranger = await signIn(all, { principal });
  for (const path of pages.filter((one) => one.includes(':id')))
    expect([path, (await stranger.get(addressOf(path))).status]).toEqual([path, 404]);
});

test('no page takes a text for markup', async () => {
  const { signIn } = await open();
  const owner = await signIn(all);
  for (const path of pages.filter((one) => !one.endsWith('/spec'))) {
    const query = path.endsWith('/new') ? '?id=leads&version=1.0.0' : '';
    const { status, body } = await owner.get(addressOf(path) + query);
    expect([path, status]).toEqual([path, 200]);
    expect([path, isInert(body), body.includes('&lt;script&gt;')]).toEqual([path, true, true]);
  }
});

test('a form that comes back takes nothing that was typed for markup', async () => {
  const { signIn } = await open();
  const owner = await signIn(all);
  const fields = { title: hostile, owner: hostile, description: hostile, groupPath: hostile };
  const form = { ...fields, type: hostile, source: hostile, projectId: hostile };
  const typed = { ...form, id: hostile, version: hostile, members: hostile, counts: hostile };
  const posts: [string, Record<string, string>][] = [
    ['/portal/catalog/-/new', { ...typed, spec: hostile }],
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
