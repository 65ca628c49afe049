import { describe, expect, test } from 'vitest';
import type { Access } from '#access/index.ts';
import type { Follower } from '#leads/lead-feed/followers.ts';
import { DAY } from '#shared/clock.ts';
import { origin, isKeyGood } from '../../../access/support.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { portalPages } from '#portal/portal.ts';
import { openWorld, type World } from '../../../support/world.ts';

type Admin = Awaited<ReturnType<World['portal']['signIn']>>;

async function setUp({
  labels = ['emea', 'Sales'],
  follower,
}: { labels?: string[] | null; follower?: Follower } = {}) {
  const context = {
    tracker: {
      labels: () => (labels ? Promise.resolve(labels) : Promise.reject(new Error('away'))),
      ownLabels: () => ['approved', 'deleted-by-partner'],
    },
    leadFeed: { follower: async () => follower },
    defaultLimit: () => 600,
  };
  const world = openWorld({ clock: createFakeClock(), pages: portalPages, context });
  const { portal, clock, access } = world;
  return { ...portal, clock, access, admin: await portal.signIn() };
}

const keyIn = (body: string): string => /tpk_\w+/.exec(body)?.[0] ?? '';

/** Sends a form and opens the page that it leads to. */
async function submit(admin: Admin, path: string, fields: Record<string, string | string[]>) {
  const { status, location, body } = await admin.post(path, fields);
  expect(body).toBe('');
  expect(status).toBe(303);
  return { path: (location ?? '').split('?')[0] ?? '', page: await admin.get(location ?? '') };
}

const newConsumer = { name: 'Cockpit', sees: 'labels', label: 'emea', lifetime: '90' };

async function create(admin: Admin, fields: Record<string, string | string[]> = {}) {
  const form = { ...newConsumer, limitPerMinute: '', ...fields };
  const { path, page } = await submit(admin, '/portal/consumers/new', form);
  return { path, key: keyIn(page.body) };
}

async function onlyConsumer(access: Access) {
  const { items } = await access.consumers.page({ limit: 2 });
  expect(items).toHaveLength(1);
  return items[0] as NonNullable<(typeof items)[0]>;
}

describe('a consumer', () => {
  test('that cannot be made comes back with what was typed', async () => {
    const { admin, access } = await setUp();
    await create(admin);
    const names = await admin.post('/portal/consumers/new', { ...newConsumer, limitPerMinute: '' });
    expect(names.status).toBe(422);
    expect(names.body).toContain('value="Cockpit"');
    expect(names.body).toContain('href="#name"');
    expect(names.body).toContain('Another consumer has this name');
    expect(names.body).not.toContain('force');
    const form = { name: '', sees: 'labels', lifetime: '90', limitPerMinute: '0' };
    const wrong = await admin.post('/portal/consumers/new', form);
    expect(wrong.body).toContain('Give it a name.');
    expect(wrong.body).toContain('href="#limitPerMinute"');
    expect(wrong.body).not.toContain('`name`');
    const fast = await admin.post('/portal/consumers/new', { ...form, limitPerMinute: '5000000' });
    for (const { body } of [wrong, fast])
      expect(body).toContain('Calls per minute are a whole number from 1 to 1,000,000.');
    await onlyConsumer(access);
  });

  test('gets no label that the tracker does not have', async () => {
    const { admin } = await setUp();
    const form = { ...newConsumer, label: 'mars', limitPerMinute: '' };
    const { status, body } = await admin.post('/portal/consumers/new', form);
    expect(status).toBe(422);
    expect(body).toContain('The tracker has no label “mars” that can be granted.');
  });

  test('is led to its labels, in either form, where a grant cannot have as many', async () => {
    const label = Array.from({ length: 11 }, (_, at) => `label ${at}`);
    const { admin } = await setUp({ labels: ['emea', ...label] });
    const { path } = await create(admin);
    const { body } = await admin.get(path);
    const seen = /name="seen" value="(\w+)"/.exec(body)?.[1] ?? '';
    const form = { ...newConsumer, name: 'Another', label, limitPerMinute: '', seen };
    for (const to of ['/portal/consumers/new', `${path}/grants`])
      expect(await admin.post(to, form)).toMatchObject({
        status: 422,
        body: expect.stringContaining('href="#label"'),
      });
  });

  test('is offered no label of approval or deletion, or that no grant names, and gets none', async () => {
    const { admin } = await setUp({ labels: ['emea', 'Approved', 'Deleted-By-Partner', 'a, b'] });
    const { body: page } = await admin.get('/portal/consumers/new');
    expect([...page.matchAll(/name="label"\s+value="([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'emea',
    ]);
    const form = { ...newConsumer, label: 'approved', limitPerMinute: '' };
    const { status, body } = await admin.post('/portal/consumers/new', form);
    expect(status).toBe(422);
    expect(body).toContain('no label “approved” that can be granted');
  });

  test('never gets all leads while labels are ticked', async () => {
    const { admin, access } = await setUp();
    const form = { ...newConsumer, sees: 'all', limitPerMinute: '' };
    const { status, body } = await admin.post('/portal/consumers/new', form);
    expect(status).toBe(422);
    expect(body).toContain('href="#sees"');
    expect(body).toMatch(/value="emea"\s+checked/);
    expect((await access.consumers.page({ limit: 1 })).items).toEqual([]);
  });

  test('gets labels by lines where the tracker has too many for boxes', async () => {
    const many = Array.from({ length: 312 }, (_, at) => `label ${at}`);
    const { admin, access } = await setUp({ labels: many });
    const { body } = await admin.get('/portal/consumers/new');
    expect(body).toContain('<textarea');
    expect(body.length).toBeLessThan(10_000);
    await create(admin, { label: 'label 3\r\n\r\n label 311 \r\nlabel 3' });
    expect((await onlyConsumer(access)).grants).toEqual([
      { action: 'leads:read', labels: ['label 3', 'label 311'] },
    ]);
  });

  test('can be made without labels while the tracker is away', async () => {
    const { admin } = await setUp({ labels: null });
    expect((await admin.get('/portal/consumers/new')).body).toContain('cannot be asked');
    const form = { ...newConsumer, limitPerMinute: '' };
    expect(await admin.post('/portal/consumers/new', form)).toMatchObject({ status: 422 });
    const { key } = await create(admin, { sees: 'all', label: [] });
    expect(key).not.toBe('');
  });

  test('is shut out, let in again, renamed, limited and revoked by its typed name', async () => {
    const { admin, access } = await setUp();
    const { path, key } = await create(admin);
    await submit(admin, `${path}/disable`, {});
    expect(await isKeyGood(access, key)).toBe(false);
    await submit(admin, `${path}/enable`, {});
    expect(await isKeyGood(access, key)).toBe(true);
    await submit(admin, `${path}/name`, { name: 'Cockpit 2' });
    const tooLow = await admin.post(`${path}/limit`, { limitPerMinute: '-7' });
    expect(tooLow).toMatchObject({ status: 422, body: expect.stringContaining('value="-7"') });
    await submit(admin, `${path}/limit`, { limitPerMinute: '10' });
    await submit(admin, `${path}/limit`, { limitPerMinute: '' });
    expect(await onlyConsumer(access)).not.toHaveProperty('limitPerMinute');
    const wrong = await admin.post(`${path}/revoke`, { typed: 'Cockpit' });
    expect(wrong).toMatchObject({ status: 422 });
    expect(wrong.body).toContain('This is not the name of the consumer.');
    expect(await isKeyGood(access, key)).toBe(true);
    await submit(admin, `${path}/revoke`, { typed: 'Cockpit 2' });
    expect(await isKeyGood(access, key)).toBe(false);
    const { body } = await admin.get(path);
    expect(body).not.toContain('action="/portal/consumers');
    for (const page of [`${path}/revoke`, `${path}/keys/new`])
      expect(await admin.get(page)).toMatchObject({ status: 409 });
  });
});

test.each([
  'abc\u202Egpj.exe',
  'two  blanks',
  'a\u2028line',
  'zero\u200Bwidth',
  'blank at the end \u200B',
  '\u200B blank at the start',
  'braille\u2800blank',
  '👍'.repeat(199),
])('a consumer called %j is revoked by its name as people see and type it', async (name) => {
  const { admin, access } = await setUp();
  const { path } = await create(admin, { name });
  const { body } = await admin.get(`${path}/revoke`);
  const shown = /Type the name[^<]*<bdi>(.+)<\/bdi>/.exec(body)?.[1] ?? '';
  await submit(admin, `${path}/revoke`, {
    typed: shown
      .replaceAll('\u200B', '')
      .replaceAll(/[\s\u2800]+/g, ' ')
      .trim(),
  });
  expect(await onlyConsumer(access)).toMatchObject({ state: 'revoked' });
});

describe('grants', () => {
  test('of the catalog name a workspace, and stay while those of leads change', async () => {
    const { admin, access } = await setUp();
    const { path, key } = await create(admin, { sees: 'nothing', label: [], workspace: ' acme ' });
    const catalog = { action: 'catalog:read', workspace: 'acme' };
    expect((await onlyConsumer(access)).grants).toEqual([catalog]);
    expect((await access.authenticate(key)).grants).toEqual([catalog]);
    const { body } = await admin.get(path);
    expect(body).toContain('value="acme"');
    expect(body).toContain('catalog of <bdi>acme</bdi>');
    const seen = /name="seen" value="(\w+)"/.exec(body)?.[1] ?? '';
    const long = { sees: 'labels', label: 'emea', seen, workspace: 'a'.repeat(201) };
    const refused = await admin.post(`${path}/grants`, long);
    expect(refused).toMatchObject({ status: 422, body: expect.stringContaining('200 characters') });
    await submit(admin, `${path}/grants`, { ...long, workspace: 'acme' });
    expect((await onlyConsumer(access)).grants).toEqual([
      catalog,
      { action: 'leads:read', labels: ['emea'] },
    ]);
  });

  test('stay as they are while all leads are asked for with labels ticked', async () => {
    const { admin, access } = await setUp();
    const { path } = await create(admin, { sees: 'nothing', label: [] });
    const seenAt = async (): Promise<string> =>
      /name="seen" value="(\w+)"/.exec((await admin.get(path)).body)?.[1] ?? '';
    const all = { sees: 'all', label: 'emea' };
    const refused = await admin.post(`${path}/grants`, { ...all, seen: await seenAt() });
    expect(refused).toMatchObject({ status: 422 });
    expect((await onlyConsumer(access)).grants).toEqual([]);
    // Ticks of labels that were granted are the form's own.
    await submit(admin, `${path}/grants`, { ...all, sees: 'labels', seen: await seenAt() });
    await submit(admin, `${path}/grants`, { ...all, seen: await seenAt() });
    expect((await onlyConsumer(access)).grants[0]).not.toHaveProperty('labels');
  });

  test('that somebody else has changed meanwhile are not undone, and the choice stays', async () => {
    const { admin, access } = await setUp();
    const { path } = await create(admin);
    const seen = /name="seen" value="(\w+)"/.exec((await admin.get(path)).body)?.[1] ?? '';
    const { id } = await onlyConsumer(access);
    await access.consumers.replaceGrants({ id, grants: [] }, origin);
    const form = { sees: 'labels', label: 'Sales', seen };
    const { status, body } = await admin.post(`${path}/grants`, form);
    expect(status).toBe(422);
    expect(body).toContain('Somebody else has changed');
    expect(body).toMatch(/value="Sales"\s+checked/);
    expect((await onlyConsumer(access)).grants).toEqual([]);
  });
});

describe('a form that is sent twice', () => {
  const idIn = (body: string): string => /name="formId" value="([\w-]{22})"/.exec(body)?.[1] ?? '';

  test('makes one key, and both lead to the page that shows it', async () => {
    const { admin, access } = await setUp();
    const { path } = await create(admin);
    const formId = idIn((await admin.get(`${path}/keys/new`)).body);
    const send = () => admin.post(`${path}/keys/new`, { lifetime: '', formId });
    const [first, second] = await Promise.all([send(), send()]);
    const third = await send();
    expect((await onlyConsumer(access)).keys).toHaveLength(2);
    expect([second.location, third.location]).toEqual([first.location, first.location]);
    expect(keyIn((await admin.get(first.location ?? '')).body)).not.toBe('');
  });

  test('is known by an id, which is new on each page and when it comes back', async () => {
    const { admin } = await setUp();
    const { path } = await create(admin);
    const ids: string[] = [];
    for (const below of ['/keys/new', '/revoke', '', ''])
      ids.push(idIn((await admin.get(`${path}${below}`)).body));
    ids.push(idIn((await admin.post(`${path}/name`, { name: '' })).body));
    expect(ids).not.toContain('');
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is done as it was changed before it was sent again', async () => {
    const { admin, access } = await setUp();
    const { path } = await create(admin);
    const formId = idIn((await admin.get(path)).body);
    for (const name of ['One', 'Two']) await submit(admin, `${path}/name`, { name, formId });
    expect(await onlyConsumer(access)).toMatchObject({ name: 'Two' });
  });

  test('that was refused can be mended and sent again', async () => {
    const { admin, access } = await setUp();
    const formId = idIn((await admin.get('/portal/consumers/new')).body);
    expect(formId).not.toBe('');
    const wrong = { ...newConsumer, name: '', limitPerMinute: '', formId };
    expect(await admin.post('/portal/consumers/new', wrong)).toMatchObject({ status: 422 });
    await submit(admin, '/portal/consumers/new', { ...wrong, name: 'Cockpit' });
    await onlyConsumer(access);
  });
});

describe('the list', () => {
  test('is found by name, state and expiry', async () => {
    const { admin, clock } = await setUp();
    await create(admin, { name: 'Ålesund', lifetime: '' });
    await clock.advance(1);
    await create(admin, { name: 'Bergen', lifetime: '30' });
    await clock.advance(20 * DAY);
    const names = async (query: string): Promise<string[]> => {
      const { body } = await admin.get(`/portal/consumers?${query}`);
      return [...body.matchAll(/<bdi>([^<]+)<\/bdi><\/a>/g)].map(([, name = '']) => name);
    };
    expect(await names('q=åle')).toEqual(['Ålesund']);
    expect(await names('expires=30')).toEqual(['Bergen']);
    expect(await names('state=active')).toEqual(['Ålesund', 'Bergen']);
    expect(await names('state=no-key')).toEqual([]);
  });
});
