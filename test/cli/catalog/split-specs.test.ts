/** Folders whose documents consist of several files. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readVersion } from '#catalog/version/read-version.ts';
import type { Database } from '#shared/database.ts';
import { runImport, serveCatalog } from '../../support/catalog-import.ts';
import type { FakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';

let served: Awaited<ReturnType<typeof serveCatalog>>;
let db: Database;
let clock: FakeClock;
let folder: string;

beforeEach(async () => {
  served = await serveCatalog();
  ({ database: db, clock } = served);
  folder = path.join(temporaryFolder(), 'specs');
  mkdirSync(folder);
});

const put = (name: string, value: unknown): void => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
};

type Told = {
  files: { file: string; outcome: string; detail?: string }[];
  summary: Record<string, number>;
};

async function run(args: string[] = [], json = true) {
  const [target = folder, ...options] =
    args[0]?.startsWith('-') === false ? args : [folder, ...args];
  const call = [target, ...options, ...served.login()];
  const { out, failure } = await runImport(call, { json, clock });
  const told = json && out !== '' ? (JSON.parse(out) as Told) : undefined;
  return { failure, out, files: told?.files ?? [], summary: told?.summary };
}

const get = (schema: object) => ({
  get: { responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } } },
});
const document = (version: string, paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version },
  paths,
  ...more,
});

async function specOf(version: string): Promise<unknown> {
  const found = await readVersion(db, 'default', { id: 'shop', version, withSpec: true });
  return found.kind === 'found' ? JSON.parse(found.specText ?? '') : undefined;
}

function putSplit(): void {
  put('shop.yaml', document('1.0.0', { '/orders': { $ref: 'parts/orders.yaml' } }));
  put('parts/orders.yaml', get({ $ref: './schemas/order.json' }));
  const parent = { $ref: './order.json' };
  put('parts/schemas/order.json', { type: 'object', title: 'Order', properties: { parent } });
}

const PASSED_OVER = 'No OpenAPI or AsyncAPI document, and no artifact: passed over.';

describe('a document in several files', () => {
  test('becomes one, with its cycles; its parts are passed over with a word', async () => {
    putSplit();
    const { failure, files, summary } = await run(['--publish']);
    expect(failure).toBeUndefined();
    expect(files).toEqual([
      { file: 'parts/orders.yaml', outcome: 'skipped', detail: PASSED_OVER },
      { file: 'parts/schemas/order.json', outcome: 'skipped', detail: PASSED_OVER },
      { file: 'shop.yaml', id: 'shop', version: '1.0.0', outcome: 'published' },
    ]);
    expect(summary).toEqual({
      created: 0,
      replaced: 0,
      published: 1,
      unchanged: 0,
      skipped: 2,
      failed: 0,
    });
    const place = '#/paths/~1orders/get/responses/200/content/application~1json/schema';
    const order = { type: 'object', title: 'Order', properties: { parent: { $ref: place } } };
    expect(await specOf('1.0.0')).toEqual(document('1.0.0', { '/orders': get(order) }));
    const again = await run([], false);
    expect(again.out).toContain(PASSED_OVER);
    expect(again.out).toContain('0 created, 0 replaced, 1 unchanged, 2 skipped, 0 failed.');
  });

  test('is bundled as well when it is named itself', async () => {
    putSplit();
    const { files } = await run([path.join(folder, 'shop.yaml')]);
    expect(files).toMatchObject([{ outcome: 'created' }]);
    expect(JSON.stringify(await specOf('1.0.0'))).toContain('"title":"Order"');
  });

  test('without such references stays as it is written, down to references to references', async () => {
    const schemas = {
      A: { $ref: '#/components/schemas/B' },
      B: { $ref: '#/components/schemas/C' },
      C: {},
    };
    const whole = document(
      '1.0.0',
      { '/a': get({ $ref: '#/components/schemas/A/x' }) },
      { components: { schemas } },
    );
    put('shop.json', whole);
    await run();
    expect(await specOf('1.0.0')).toEqual(whole);
  });

  test('a folder of parts alone is a mistake', async () => {
    put('order.json', { type: 'object', title: 'Order' });
    put('list.json', []);
    expect((await run()).failure).toBe(
      'No file is an OpenAPI or AsyncAPI document or an artifact.',
    );
  });
});

describe('what is bundled can be published', () => {
  const given = (paths: object, schemas: object = {}) =>
    document('1.0.0', paths, { components: { schemas } });
  const first = '#/components/schemas/A';

  async function bundled(parts: Record<string, unknown>, whole: object): Promise<unknown> {
    for (const [name, part] of Object.entries(parts)) put(name, part);
    put('shop.json', whole);
    const { failure, files } = await run(['--check']);
    expect([failure, files.filter(({ outcome }) => outcome === 'failed')]).toEqual([undefined, []]);
    await run();
    return specOf('1.0.0');
  }

  test('names in references are written in percent', async () => {
    const spec = await bundled(
      { 'a.json': { type: 'object', title: 'ä b' } },
      given({ '/{a} b': get({ $ref: 'a.json' }), '/{a} b/{c}': get({ $ref: 'a.json' }) }),
    );
    const place = '#/paths/~1%7Ba%7D%20b/get/responses/200/content/application~1json/schema';
    expect(spec).toMatchObject({ paths: { '/{a} b/{c}': get({ $ref: place }) } });
  });

  test('where names stand the second use is a copy, not a reference', async () => {
    const A = { type: 'object', properties: { $ref: 'a.json' } };
    const whole = { type: 'object', properties: { a: { type: 'string' } } };
    expect(await bundled({ 'a.json': whole.properties }, given({}, { A, B: A }))).toMatchObject({
      components: { schemas: { A: whole, B: whole } },
    });
  });

  test('mappings of a discriminator lead to what they named', async () => {
    const [cat, dog] = [{ $ref: 'pets/cat.json' }, { $ref: 'pets/dogs.json#/Dog' }];
    const mapping = { cat: 'pets/cat.json', dog: './pets/dogs.json#/Dog', other: 'A' };
    const A = { oneOf: [cat, dog], discriminator: { propertyName: 'kind', mapping } };
    const pets = {
      'pets/cat.json': { type: 'object', title: 'cat' },
      'pets/dogs.json': { Dog: { type: 'object', title: 'dog' } },
    };
    expect(await bundled(pets, given({}, { A }))).toMatchObject({
      components: {
        schemas: {
          A: {
            discriminator: {
              mapping: { cat: `${first}/oneOf/0`, dog: `${first}/oneOf/1`, other: 'A' },
            },
          },
        },
      },
    });
  });

  test('what only a mapping names becomes a definition', async () => {
    const pet = {
      type: 'object',
      discriminator: { propertyName: 'kind', mapping: { cat: 'cat.json' } },
    };
    const parts = { 'pet.json': pet, 'cat.json': { allOf: [{ $ref: 'pet.json' }] } };
    expect(await bundled(parts, given({}, { A: { $ref: 'pet.json' } }))).toMatchObject({
      components: {
        schemas: {
          A: { discriminator: { mapping: { cat: '#/components/schemas/cat' } } },
          cat: { allOf: [{ $ref: first }] },
        },
      },
    });
  });

  test('references in data are no references, in what other files hold either', async () => {
    const none = { $ref: 'none.json' };
    const A = { type: 'object', properties: { example: { $ref: 'b.json' } }, example: none };
    const b = { type: 'string', default: none, 'x-a': none };
    expect(
      await bundled({ 'a.json': A, 'b.json': b }, given({}, { A: { $ref: 'a.json' } })),
    ).toMatchObject({
      components: { schemas: { A: { ...A, properties: { example: b } } } },
    });
  });
});

describe('a reference fails its file, and nothing is read', () => {
  const outside = /leads out of the imported folder/;
  const fetched = /is no relative path; nothing is fetched/;

  test.each([
    ['a folder above', '../secret.yaml', outside],
    ['far above', '../../../../../../etc/passwd', outside],
    ['written in percent', '%2e%2e/secret.yaml', outside],
    ['with a backslash', String.raw`..\secret.yaml`, outside],
    ['from the root', '/etc/passwd', outside],
    ['a symbolic link', 'link.yaml', outside],
    ['a linked folder', 'linked/secret.yaml', outside],
    ['a file address', 'file:///etc/passwd', fetched],
    ['the network', 'http://127.0.0.1:9/a.yaml', fetched],
    ['the network, of a part', 'far.yaml', fetched],
    ['without a scheme', '//host.example/a.yaml', fetched],
    ['what is not there', 'none.yaml', /"none\.yaml" cannot be read \(ENOENT\)/],
    ['another kind of file', 'text.md', /is no \.yaml, \.yml or \.json file/],
    ['no such place', 'far.yaml#/none', /none|nothing is fetched/],
  ])('to %s', async (_, $ref, why) => {
    writeFileSync(path.join(folder, '..', 'secret.yaml'), 'secret: true');
    symlinkSync('../secret.yaml', path.join(folder, 'link.yaml'));
    symlinkSync('..', path.join(folder, 'linked'));
    put('far.yaml', { $ref: 'https://127.0.0.1:9/b.yaml' });
    put('text.md', 'a text');
    put('shop.json', document('1.0.0', { '/a': { $ref } }));
    const { failure, files } = await run();
    expect(failure).toBe('1 of 2 failed.');
    expect(files[1]).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(why) as string,
    });
    expect(await specOf('1.0.0')).toBeUndefined();
  });
});

test('--exclude leaves out what its globs match, and references still find it', async () => {
  putSplit();
  put('old/v0.json', document('0.1.0', {}));
  const { files } = await run(['--exclude', 'parts/**', '--exclude', 'old/*.json']);
  expect(files.map(({ file }) => file)).toEqual(['shop.yaml']);
  expect(JSON.stringify(await specOf('1.0.0'))).toContain('"title":"Order"');
  expect((await run(['--exclude', '**'])).failure).toMatch(/what --exclude names/);
});
