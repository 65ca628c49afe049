import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CatalogRules } from '#catalog/index.ts';
import { readVersion } from '#catalog/version/read-version.ts';
import { listAuditOf } from '#shared/audit.ts';
import type { Database } from '#shared/database.ts';
import { catalogRules } from '../../support/catalog.ts';
import { type ImportRun, runImport, serveCatalog } from '../../support/catalog-import.ts';
import type { FakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';

let served: Awaited<ReturnType<typeof serveCatalog>>;
let db: Database;
let clock: FakeClock;
let folder: string;
let rules: CatalogRules;

beforeEach(async () => {
  rules = catalogRules;
  served = await serveCatalog({ rules: () => rules });
  ({ database: db, clock } = served);
  folder = temporaryFolder();
});

const run = (...args: string[]): Promise<ImportRun> =>
  runImport([folder, ...args, ...served.login()], {
    clock,
    environment: { GITHUB_WORKSPACE: folder },
  });

const put = (name: string, text: string | Buffer): void => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

type Paths = Record<string, object>;
const get = { responses: { 200: { description: 'ok' } } };

function document(version: string, paths: Paths): string {
  const openapi = { openapi: '3.1.0', info: { title: 'Shop', version }, paths };
  return JSON.stringify(openapi, null, 2);
}

const stateOf = async (version: string): Promise<string | undefined> => {
  const found = await readVersion(db, 'default', { id: 'shop', version, withSpec: false });
  return found.kind === 'found' ? found.record.lifecycle : undefined;
};

const actionsOf = async (): Promise<unknown[]> => {
  const listed = await listAuditOf(db, 'artifact/default/shop', { limit: 99 });
  return listed.map(({ item: { action, actor, changes } }) => [
    action,
    actor,
    changes?.['breaking'],
  ]);
};

const owner = { kind: 'token', subject: 'owner', clientId: 'tool' };

/** 1.0.0 with two paths is published; the file is 1.1.0 with one of them. */
async function breakShop(): Promise<void> {
  put('shop.json', document('1.0.0', { '/a': { get }, '/b': { get } }));
  expect((await run('--publish')).failure).toBeUndefined();
  put('shop.json', document('1.1.0', { '/a': { get } }));
}

describe('--publish', () => {
  test('leaves a draft whose spec has findings, unless they are to warn', async () => {
    put('shop.json', document('1.0.0', { a: { get } }));
    const { out, failure } = await run('--publish');
    expect(failure).toBe('1 of 1 failed.');
    expect(out).toMatch(/shop\.json:7:3: error: #\/spec\/paths: .* \[\w+\]/);
    expect(await stateOf('1.0.0')).toBe('DRAFT');
    rules = { ...rules, findings: 'warn' };
    expect((await run('--publish')).failure).toBeUndefined();
    expect(await stateOf('1.0.0')).toBe('PUBLISHED');
  });

  test('takes one of two files with the same name, whether it can be published or not', async () => {
    put('a.json', document('1.0.0', { a: { get } }));
    put('b.json', document('1.0.0', { '/a': { get } }));
    put('c.json', document('1.0.0', { a: { get } }));
    for (const work of ['--check', '--publish']) {
      const { out, failure } = await run(work);
      expect(failure).toBe('3 of 3 failed.');
      expect(out).toContain('a.json has the same id and version: shop, 1.0.0.');
      expect(out).toMatch(/c\.json:7:3: error: #\/spec\/paths: /);
    }
    expect(await stateOf('1.0.0')).toBe('DRAFT');
    expect(await actionsOf()).toHaveLength(1);
  });

  test('tells what breaks; where that blocks it has to be accepted, which the audit keeps', async () => {
    await breakShop();
    rules = { ...rules, compatibility: 'block' };
    const blocked = await run('--publish', '--format', 'github');
    expect(blocked.failure).toBe('1 of 1 failed.');
    expect(blocked.out).toContain(
      '::error file=shop.json,line=7,col=3,title=breaking-change::#/spec/paths/~1b: Breaks who relies on 1.0.0',
    );
    expect(await stateOf('1.1.0')).toBe('DRAFT');
    const accepted = await run('--publish', '--breaking', 'accept');
    expect(accepted.failure).toBeUndefined();
    expect(accepted.out).toContain('warning: #/spec/paths/~1b: Breaks who relies on 1.0.0');
    expect(await stateOf('1.1.0')).toBe('PUBLISHED');
    expect((await actionsOf()).at(0)).toEqual(['artifact.publish', owner, 'accept']);
  });

  test('says, as --check does, that nothing was compared', async () => {
    rules = { ...rules, compatibility: 'block' };
    put('shop.json', document('summer', { '/a': { get }, '/b': { get } }));
    expect((await run('--publish')).out).not.toContain('not-compared');
    put('shop.json', document('autumn', { '/a': { get } }));
    for (const work of ['--check', '--publish']) {
      const { out, failure } = await run(work);
      expect(failure).toBeUndefined();
      expect(out).toMatch(
        /shop\.json:5:5: warning: #\/version: Version \S+ was compared with no published version, .* \[not-compared\]/,
      );
    }
    expect(await stateOf('autumn')).toBe('PUBLISHED');
  });
});

describe('--check', () => {
  test('finds what publishing would find, fails, and writes nothing', async () => {
    await breakShop();
    put('broken.json', document('3.0.0', { a: {} }).replace('Shop', 'Broken'));
    const { out, failure } = await run('--check');
    expect(failure).toBe('2 of 2 failed.');
    expect(out).toMatch(/broken\.json:7:3: error: .* \[\w+\]/);
    expect(out).toContain('shop.json:7:3: error: #/spec/paths/~1b: Breaks who relies on 1.0.0');
    expect(out).toContain('Nothing was written.');
    expect(await stateOf('1.1.0')).toBeUndefined();
    expect(await actionsOf()).toHaveLength(2);
  });

  test('fails for other content of a published version, where the version stands', async () => {
    await breakShop();
    put('shop.json', document('1.0.0', { '/a': { get } }));
    const { out, failure } = await run('--check', '--format', 'github');
    expect(failure).toBe('1 of 1 failed.');
    expect(out).toMatch(/^::error file=shop\.json,line=5,col=5,title=frozen::#\/version: /);
  });
});

describe('places', () => {
  const events = 'asyncapi: 3.0.0\ninfo: { title: a, version: "1" }\nid: "urn:a"\n';
  test.each([
    ['a.yaml', 'openapi: 3.1.0\ninfo:\n  title: a\n\tversion: 1', 'line=4,col=1'],
    ['a.json', '{\n  "openapi": "3.1.0",\n}', 'line=3,col=1'],
    ['a.json', '{"id": "a",\n "id": "b"}', 'line=2,col=2'],
    ['a.yaml', 'id: a\ntype: API\nowner: b\ntitle: c\ncolour: red\n', 'line=5,col=1'],
    ['a.yaml', 'id: a\ntype: API\nowner: b\ntitle: c\nmembers:\n  - x\n  - "?"\n', 'line=7,col=5'],
    ['a.yaml', '\uFEFFid: a\ntype: APY\nowner: b\ntitle: c\n', 'line=2,col=1'],
    ['a.yaml', `${events}channels:\n  a: { $ref: '#/channels/b' }\n`, 'line=5,col=8'],
  ])('in %s: %j', async (name, text, place) => {
    put(name, text);
    expect((await run('--check', '--format', 'github')).out).toContain(`file=${name},${place}`);
  });
});

describe('a hostile file', () => {
  const nest = (levels: number): string => `${'[1,'.repeat(levels)}1${']'.repeat(levels)}`;
  const field = (title: string, spec = '{}'): string =>
    `{"id":"a","type":"API","owner":"b","title":${title},"spec":${spec}}`;
  test.each([
    [
      'more than 5 MiB of spec',
      'a.json',
      field('"t"', `{"x":"${'y'.repeat(6 * 1024 * 1024)}"}`),
      '5 MiB',
    ],
    ['more than 32 MiB', 'a.json', Buffer.alloc(32 * 1024 * 1024 + 1, 32), '32 MiB'],
    ['100,000 levels of JSON', 'a.json', nest(100_000), 'deeper than'],
    ['100,000 levels of YAML', 'a.yaml', nest(100_000), 'error: Too many levels'],
    ['64,000 combining marks in a title', 'a.json', field(`"a${'\u0301'.repeat(64_000)}"`), '200'],
  ])('with %s fails alone, and says why', async (_name, name, text, reason) => {
    put(name, text);
    put('z.json', document('1.0.0', {}));
    const { out, failure } = await run();
    expect(failure).toBe('1 of 2 failed.');
    expect(out).toContain(reason);
    expect(await stateOf('1.0.0')).toBe('DRAFT');
  });

  test('with 64,000 combining marks in the title of a document is imported', async () => {
    put('a.json', document('1.0.0', {}).replace('Shop', `Shop${'\u0301'.repeat(64_000)}`));
    expect((await run()).failure).toBeUndefined();
  });

  test('by its name ends no annotation and no line', async () => {
    const name = 'a,line=9::b%\n::warning::c.json';
    put(name, '{');
    const { out } = await run('--format', 'github');
    expect(out.split('\n')[0]).toMatch(
      /^::error file=a%2Cline=9%3A%3Ab%25%0A%3A%3Awarning%3A%3Ac\.json,line=1,col=2,/,
    );
    expect(out).not.toMatch(/^::warning/m);
    expect((await run()).out).not.toContain('\n::');
  });
});
