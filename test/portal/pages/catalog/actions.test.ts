import { replaceVersion } from '#catalog/version/write-version.ts';
import { listAudit, listCatalog, listVersions } from '#catalog/reading/read-catalog.ts';
import { readView } from '#catalog/version/version-view.ts';
import { describe, expect, test, vi } from 'vitest';
import { catalogRules } from '../../../support/catalog.ts';
import { origin, setUp } from './support.ts';

const ref = { workspaceId: 'default' };
const scopes = ['catalog:read', 'catalog:write', 'catalog:publish'];
const at = (below: string, version = '1.0.0') =>
  `/portal/catalog/leads/versions/${version}/${below}`;

const ok = { get: { responses: { 200: { description: 'Well.' } } } };
const api = (...paths: string[]): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    paths: Object.fromEntries(paths.map((path) => [path, ok])),
  });

const fields = {
  id: 'leads',
  version: '',
  type: 'API',
  owner: 'team',
  title: 'Leads',
  description: 'What leads are.\r\nAll of them.',
  source: 'INLINE',
  projectId: '',
  groupPath: 'sales/leads',
  members: '',
  counts: 'operations: 12\r\n\r\nschemas: 3',
  spec: 'a: 1\r\nb: [x]\r\n',
};

async function open(facts: Parameters<typeof setUp>[0] = {}) {
  const portal = setUp(facts);
  const owner = await portal.signIn(scopes);
  const seenAt = async (path: string): Promise<string> => {
    const { status, body } = await owner.get(path);
    expect(status).toBe(200);
    return (/name="seen" value="([^"]+)"/.exec(body)?.[1] ?? '').replaceAll('&quot;', '"');
  };
  const submit = async (path: string, typed: Record<string, string>) => {
    const { status, location, body } = await owner.post(path, typed);
    expect(body).toBe('');
    expect(status).toBe(303);
    return owner.get(location ?? '');
  };
  /** Opens the page that asks, and confirms. */
  const confirm = async (path: string, typed: Record<string, string> = {}) =>
    submit(path, { ...typed, seen: await seenAt(path) });
  const read = (version = '1.0.0') =>
    readView(portal.catalog.db, ref, { id: 'leads', version, withSpec: true });
  return { ...portal, owner, seenAt, submit, confirm, read };
}

describe('a draft', () => {
  test('that is wrong comes back with all that was typed and every fault', async () => {
    const { owner, catalog } = await open();
    const wrong = { ...fields, id: '-', title: '', members: 'a b a', groupPath: '/' };
    const { status, body } = await owner.post('/portal/catalog/-/new', wrong);
    expect(status).toBe(422);
    for (const name of ['id', 'title', 'members', 'groupPath'])
      expect(body).toContain(`href="#${name}"`);
    expect(body).not.toMatch(/`(?:id|title|members|groupPath)/);
    expect(body).toContain('Group path: It must be 1 to 16 segments');
    expect(body).toContain('Members: No. 3 must stand there once.');
    expect(body).toContain('a: 1');
    const worse = { ...wrong, spec: 'a: [', counts: 'n: 1\nx' };
    const { body: all } = await owner.post('/portal/catalog/-/new', worse);
    for (const name of ['id', 'title', 'members', 'groupPath', 'counts', 'spec'])
      expect(all).toContain(`href="#${name}"`);
    expect((await listCatalog(catalog, ref, { limit: 1 })).items).toEqual([]);
  });

  test('that is sent twice is made once, without words about somebody else', async () => {
    const { owner, catalog, seenAt } = await open();
    const twice = async (path: string, typed: Record<string, string>) => {
      const { body } = await owner.get(path);
      const formId = /name="formId" value="([^"]+)"/.exec(body)?.[1] ?? '';
      const sent = [await owner.post(path, { ...typed, formId })];
      sent.push(await owner.post(path, { ...typed, formId }));
      const [first, second] = sent.map(({ status, location }) => ({ status, location }));
      expect(first?.status).toBe(303);
      expect(second).toEqual(first);
    };
    await twice('/portal/catalog/-/new', { ...fields, version: '' });
    expect((await listVersions(catalog, ref, { id: 'leads', limit: 9 })).items).toHaveLength(1);
    await twice(at('edit'), { ...fields, title: 'Other', seen: await seenAt(at('edit')) });
    await twice(at('publish'), { seen: await seenAt(at('publish')) });
  });

  test('has no count that the API could not show', async () => {
    const { owner, catalog } = await open();
    const wrong = { ...fields, counts: 'a: 1\r\n__proto__: 12' };
    const { status, body } = await owner.post('/portal/catalog/-/new', wrong);
    expect(status).toBe(422);
    expect(body).toContain('href="#counts"');
    expect(body).toContain('A count cannot have the name `__proto__`.');
    expect((await listCatalog(catalog, ref, { limit: 1 })).items).toEqual([]);
  });

  test('of 5 MiB fits, a larger one is refused at its field', async () => {
    const { owner, submit, read } = await open();
    const text = (length: number) => JSON.stringify({ a: '{'.repeat(length) });
    const fits = text(5 * 1024 * 1024 - 8);
    await submit('/portal/catalog/-/new', { ...fields, spec: fits });
    expect((await read()).specText).toBe(fits);
    const spec = text(5 * 1024 * 1024);
    const over = await owner.post('/portal/catalog/-/new', { ...fields, id: 'other', spec });
    expect(over.status).toBe(422);
    expect(over.body).toContain('href="#spec"');
  });

  test('comes back as it was typed, however long, when something is wrong', async () => {
    const { owner, create, read, submit, seenAt } = await open();
    await create({ specText: '{"a":1}' });
    const typed = {
      ...fields,
      description: '"'.repeat(9000),
      members: Array.from({ length: 1000 }, (_, at) => `member-of-a-long-name-${at}`).join('\n'),
      spec: `{"a":"${'y'.repeat(300_000)}"}`,
      seen: await seenAt(at('edit')),
    };
    const { status, body } = await owner.post(at('edit'), { ...typed, title: '' });
    expect(status).toBe(422);
    for (const text of ['y'.repeat(300_000), 'name-999', '"'.repeat(9000)])
      expect(body.includes(text)).toBe(true);
    await submit(at('edit'), typed);
    const { specText, record } = await read();
    expect(specText === typed.spec).toBe(true);
    expect(record.members).toHaveLength(1000);
    // As it is stored, for indented it might be longer than a spec may be.
    expect((await owner.get(at('edit'))).body).toContain('>\n{"a":"yyy');
  });

  test.each([
    ['edited', at('edit')],
    ['the model of another one', '/portal/catalog/-/new?id=leads&version=1.0.0'],
  ])('whose lists are empty, not absent, keeps that when it is %s', async (_, page) => {
    const { owner, create, read, submit } = await open();
    await create({ members: [], counts: {} });
    const { body } = await owner.get(page);
    const hidden = Object.fromEntries(
      Array.from(body.matchAll(/type="hidden" name="(seen|empty)" value="([^"]+)"/g), (found) => [
        found[1],
        found[2]?.replaceAll('&quot;', '"') ?? '',
      ]),
    );
    await submit(page.split('?')[0] ?? '', { ...fields, counts: '', ...hidden, title: 'Other' });
    const { record } = await read(page === at('edit') ? '1.0.0' : '1.1.0');
    expect(record).toMatchObject({ title: 'Other', members: [], counts: {} });
    await submit('/portal/catalog/-/new', { ...fields, counts: '', id: 'leads', version: '9.0.0' });
    const { record: fresh } = await read('9.0.0');
    expect([fresh.members, fresh.counts]).toEqual([undefined, undefined]);
  });

  test('is edited as it was seen, and not over what another person saved', async () => {
    const { owner, create, read, confirm, seenAt, catalog, draft } = await open();
    await create({ specText: '{"n":12345678901234567890}' });
    const { body } = await owner.get(at('edit'));
    expect(body).toContain('"n": 12345678901234567890');
    await confirm(at('edit'), { ...fields, title: 'Mine' });
    expect((await read()).record.title).toBe('Mine');
    const seen = await seenAt(at('edit'));
    const ifMatch = { kind: 'any' } as const;
    const content = draft({ title: 'Theirs', description: 'What leads are.\nAll of them.' });
    await replaceVersion(catalog, origin, { id: 'leads', version: '1.0.0', content, ifMatch });
    const late = await owner.post(at('edit'), { ...fields, title: 'Mine again', seen });
    expect(late.status).toBe(422);
    expect(late.body).toContain('Somebody else has changed this version');
    expect(late.body).toContain('differs from yours in: title, group path, counts.');
    expect(late.body).toContain('value="Mine again"');
    expect((await read()).record.title).toBe('Theirs');
    const fresh =
      /name="seen" value="([^"]+)"/.exec(late.body)?.[1]?.replaceAll('&quot;', '"') ?? '';
    await owner.post(at('edit'), { ...fields, title: 'Mine again', seen: fresh });
    expect((await read()).record.title).toBe('Mine again');
  });
});

describe('a version', () => {
  test('with findings shows them before it is published, and is stopped by them', async () => {
    const { owner, create, seenAt, read } = await open();
    await create({ specText: '{"openapi":"3.1.0"}' });
    const { body } = await owner.get(at('publish'));
    expect(body).toContain('it cannot be published like this');
    expect(body).toContain(`href="${at('edit')}">Edit the draft</a>`);
    expect(body).not.toMatch(/<button[^>]*>\s*Publish/);
    const stopped = await owner.post(at('publish'), { seen: await seenAt(at('edit')) });
    expect(stopped.status).toBe(422);
    expect((await read()).record.lifecycle).toBe('DRAFT');
  });

  test('that is asked about reads nothing of what the others hold', async () => {
    const { owner, create, publish, catalog } = await open();
    for (const version of ['1.0.0', '1.1.0']) {
      await create({ version, specText: '{}' });
      await publish(version);
    }
    const all = vi.spyOn(catalog.db, 'all');
    const { body } = await owner.get(at('deprecate'));
    expect(body).toContain('Its successor is');
    const rows = (await Promise.all(all.mock.results.map(({ value }) => value))).flat();
    expect(rows.filter((row) => typeof row === 'object' && 'lifecycle' in row)).not.toEqual([]);
    for (const row of rows) expect(row).not.toHaveProperty('title');
  });

  test('offers nothing by its address that is not possible', async () => {
    const { owner, create, publish } = await open();
    await create();
    const offers = async () =>
      Promise.all(
        ['publish', 'deprecate', 'retire', 'delete', 'unset-default'].map(
          async (below) => (await owner.get(at(below))).status,
        ),
      );
    expect(await offers()).toEqual([200, 409, 409, 200, 409]);
    await publish('1.0.0');
    expect(await offers()).toEqual([409, 200, 409, 409, 200]);
  });

  test('that breaks another one shows it first, and where that blocks asks to accept it', async () => {
    const rules = { current: { ...catalogRules, compatibility: 'warn' as 'warn' | 'block' } };
    const { owner, create, publish, confirm, seenAt, catalog, read } = await open({
      rules: () => rules.current,
    });
    await create({ specText: api('/pets', '/dogs') });
    expect((await owner.get(at('publish'))).body).not.toMatch(/breaking|breaks/);
    await publish('1.0.0');
    await create({ version: '1.1.0', specText: api('/pets') });
    await create({ version: '1.2.0', specText: api('/pets', '/dogs') });
    const path = at('publish', '1.1.0');
    const shown = async (page: string) =>
      (await owner.get(page)).body.replaceAll(/\s+/g, ' ').replaceAll('<wbr />', '');
    const body = await shown(path);
    expect(body).toContain('1 breaking change against <code>1.0.0</code>');
    expect(body).toMatch(/<bdi>[A-Z][^<]*\.<\/bdi> <code class="place">spec › paths › \/dogs/);
    expect(body).not.toContain('No findings');
    expect(body).toMatch(/It becomes the default<.*<code>1.1.0<.* in place of <code>1.0.0</);
    expect(body).not.toContain('name="breaking"');
    rules.current = { ...catalogRules, compatibility: 'block' };
    expect((await owner.get(path)).body).toMatch(/name="breaking"[^>]*value="accept"/);
    const stopped = await owner.post(path, { seen: await seenAt(path) });
    expect(stopped.status).toBe(422);
    expect(stopped.body).toContain('href="#breaking"');
    expect(stopped.body).toContain('Tick the box to publish it all the same.');
    expect((await read('1.1.0')).record.lifecycle).toBe('DRAFT');
    const fine = await shown(at('publish', '1.2.0'));
    expect(fine).toContain('It breaks nothing of <code>1.0.0</code>');
    expect(fine).not.toContain('name="breaking"');
    await confirm(path, { breaking: 'accept' });
    expect((await read('1.1.0')).record.lifecycle).toBe('PUBLISHED');
    const { items } = await listAudit(catalog, ref, { id: 'leads', limit: 1 });
    expect(items[0]?.changes).toMatchObject({ breaking: 'accept', against: '1.0.0' });
  });

  test('is not said to break nothing where nobody can judge what changed', async () => {
    const { owner, create, publish } = await open();
    const events = { asyncapi: '3.0.0', info: { title: 'Events', version: '1' } };
    await create({ specText: JSON.stringify({ ...events, channels: { a: {}, b: {} } }) });
    await publish('1.0.0');
    await create({ version: '1.1.0', specText: JSON.stringify({ ...events, channels: {} }) });
    const page = (await owner.get(at('publish', '1.1.0'))).body;
    const body = page.replaceAll(/\s+/g, ' ').replaceAll('<wbr />', '');
    expect(body).toContain('Nothing is known to break <code>1.0.0</code>');
    expect(body).toContain('Look at 2 changes that nobody can judge');
    expect(body).not.toContain('breaks nothing');
  });

  test('that could not be compared in time asks to accept that only where it may break', async () => {
    const diffSpecs = async () => 'too-costly' as const;
    const rules = () => ({ ...catalogRules, compatibility: 'block' as const });
    const { owner, create, publish, confirm, read } = await open({ rules, diffSpecs });
    await create({ specText: '{"asyncapi":"3.0.0","info":{"title":"Events","version":"1"}}' });
    await publish('1.0.0');
    await create({ version: '1.1.0', specText: '{"events":[]}' });
    const page = await owner.get(at('publish', '1.1.0'));
    expect(page.body).toContain('Nobody can judge its changes');
    expect(page.body).not.toContain('name="breaking"');
    await confirm(at('publish', '1.1.0'));
    expect((await read('1.1.0')).record.lifecycle).toBe('PUBLISHED');
    await create({ version: '2.0.0', specText: api('/pets') });
    await publish('2.0.0');
    await create({ version: '2.1.0', specText: api('/pets', '/dogs') });
    const other = await owner.get(at('publish', '2.1.0'));
    expect(other.body).toContain('Nobody knows what it breaks.');
    expect(other.body).toContain('name="breaking"');
  });

  test('is published only as it was seen', async () => {
    const { owner, create, seenAt, catalog, draft, read } = await open();
    await create();
    const seen = await seenAt(at('publish'));
    const ifMatch = { kind: 'any' } as const;
    const content = draft({ title: 'Sneaked in' });
    await replaceVersion(catalog, origin, { id: 'leads', version: '1.0.0', content, ifMatch });
    const late = await owner.post(at('publish'), { seen });
    expect(late.status).toBe(422);
    expect(late.body).toContain('Look again, then confirm.');
    expect((await read()).record.lifecycle).toBe('DRAFT');
  });

  test('of another workspace is changed by nobody', async () => {
    const { signIn, create, catalog, read } = await open();
    await create();
    const principal = { subject: 'x', clientId: 'portal', scopes, workspaceId: 'other' };
    const stranger = await signIn(scopes, { principal });
    expect((await stranger.post(at('publish'), { seen: '"x"' })).status).toBe(404);
    expect((await read()).record).toMatchObject({ lifecycle: 'DRAFT', revision: 1 });
    expect((await listCatalog(catalog, { workspaceId: 'other' }, { limit: 1 })).items).toEqual([]);
  });
});
