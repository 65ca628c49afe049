/** Every page of the catalog with the longest texts that it takes, each of them what markup multiplies. */
import { expect, test } from 'vitest';
import type { Draft } from '#catalog/version/content-check.ts';
import { bytesOf, PAGE_BYTES_MAX } from '../../../support/portal/page-bytes.ts';
import { origin, setUp } from './support.ts';

const scopes = ['catalog:read', 'catalog:write', 'catalog:publish', 'trackport:admin'];
const quotes = (length: number): string => '"'.repeat(length);
/** An id or a version of the greatest length, with as many dots as fit. */
const dotted = (length: number, at: number): string =>
  `${'a.'.repeat(length / 2 - 3)}${at}`.padEnd(length, 'z');

const path = Array.from({ length: 16 }, () => quotes(31)).join('/');
const texts = {
  title: quotes(200),
  owner: quotes(200),
  description: quotes(10_000),
  projectId: quotes(200),
  groupPath: path,
  counts: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [quotes(60) + at, at])),
};
/** Each part of it is a finding, and none is there in another one. */
const spec = (tag: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: {},
    paths: Object.fromEntries(
      Array.from({ length: 900 }, (_, at) => [`/${quotes(120)}${tag}${at}`, { get: 1 }]),
    ),
  });

/** A valid one with as much to break. */
const breakable = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  paths: Object.fromEntries(
    Array.from({ length: 900 }, (_, at) => [
      `/${quotes(120)}${at}`,
      { get: { responses: { 200: { description: 'x' } } } },
    ]),
  ),
});

const id = dotted(128, 0);
const versions = Array.from({ length: 40 }, (_, at) => dotted(64, 100 + at));
const [first = '', second = ''] = versions;
const one = `/portal/catalog/${id}`;
const at = (version: string, below: string): string => `${one}/versions/${version}/${below}`;

async function fill() {
  const portal = setUp();
  const { catalog, clock } = portal;
  const members = Array.from({ length: 1000 }, (_, n) => dotted(128, 1000 + n));
  const create = (facts: Partial<Draft>) => portal.create({ ...texts, ...facts });
  const move = (of: string, version: string, action: 'publish' | 'deprecate') =>
    catalog.changeLifecycle(origin, { id: of, version, action });
  for (const version of versions) await create({ id, version, members });
  for (const version of versions.slice(2)) await move(id, version, 'publish');
  const breaking = JSON.stringify({ ...JSON.parse(breakable), paths: {} });
  for (const [version, specText] of Object.entries({ '1.0.0': breakable, '1.1.0': breaking }))
    await create({ id: 'breaking', version, specText });
  await move('breaking', '1.0.0', 'publish');
  const ifMatch = { kind: 'any' } as const;
  for (const version of [first, second]) {
    const content = portal.draft({ ...texts, members, specText: spec(version) });
    await catalog.replace(origin, { id, version, content, ifMatch });
  }
  await catalog.setDefault(origin, { id, version: versions[5] ?? '' });
  await move(id, versions[5] ?? '', 'deprecate');
  for (const member of members.slice(0, 60)) {
    await create({ id: member, version: '1', members: [id] });
    await move(member, '1', 'publish');
  }
  return { ...portal, owner: await portal.signIn(scopes), clock };
}

const filters = new URLSearchParams({ q: 'a', owner: quotes(200), groupPath: quotes(200) });

const pages: Record<string, string> = {
  'the list': '/portal/catalog',
  'every version': '/portal/catalog?versions=all',
  'a search': `/portal/catalog?q=a&groupPath=${encodeURIComponent(path)}`,
  'a search for nothing': `/portal/catalog?${filters.toString()}`,
  'an artifact': one,
  'a draft': `${one}?version=${first}`,
  'two versions compared': `${one}?from=${first}&to=${second}`,
  'all who list it': `${one}/listers`,
  'a new draft': '/portal/catalog/-/new',
  'a new version': `/portal/catalog/-/new?id=${id}&version=${first}`,
  'an edit of a draft': at(first, 'edit'),
  'an edit of what is published': at(versions[9] ?? '', 'edit'),
  'the question before publishing': at(first, 'publish'),
  'the question before publishing what breaks': '/portal/catalog/breaking/versions/1.1.0/publish',
  'the question before deleting': at(first, 'delete'),
  'the question before deprecating': at(versions[9] ?? '', 'deprecate'),
  'the question before retiring': at(versions[5] ?? '', 'retire'),
  'the question before unsetting the default': at(versions[5] ?? '', 'unset-default'),
};

test('every page is below 50 KB with all that it loads, whatever people write', async () => {
  const { owner } = await fill();
  const sizes: Record<string, number> = {};
  for (const [name, address] of Object.entries(pages)) {
    const page = await owner.get(address);
    expect([name, page.status]).toEqual([name, 200]);
    sizes[name] = await bytesOf(owner, page);
  }
  const form = { ...texts, id, version: first, type: 'API', source: 'INLINE', counts: '' };
  const forms: Record<string, [string, Record<string, string>]> = {
    'a draft that is there already': ['/portal/catalog/-/new', { ...form, spec: quotes(900_000) }],
    'texts of any length': [
      '/portal/catalog/-/new',
      { ...form, title: quotes(5000), owner: quotes(90_000), spec: '', id: quotes(4000) },
    ],
    'members that are all wrong': [
      at(first, 'edit'),
      { ...form, members: `${quotes(60)} `.repeat(1000), spec: '', seen: '"x"' },
    ],
    'a typed version that is wrong': [
      at(first, 'delete'),
      { typed: quotes(10_000), seen: quotes(10_000) },
    ],
    'a sunset that is none': [
      at(versions[9] ?? '', 'deprecate'),
      { sunset: quotes(10_000), seen: quotes(10_000) },
    ],
  };
  for (const [name, [address, fields]] of Object.entries(forms)) {
    const page = await owner.post(address, { members: '', ...fields });
    expect([name, page.status]).toEqual([name, 422]);
    sizes[name] = await bytesOf(owner, page);
  }
  const tooLong = Object.entries(sizes).filter(([, bytes]) => bytes > PAGE_BYTES_MAX);
  expect(tooLong).toEqual([]);
}, 120_000);
