import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { readVersion } from '#catalog/version/read-version.ts';
import { listAuditOf } from '#shared/audit.ts';
import type { Database } from '#shared/database.ts';
import type { FakeClock } from '../../support/clock.ts';
import { type ImportRun, runImport, serveCatalog } from '../../support/catalog-import.ts';
import { temporaryFolder } from '../../support/folder.ts';

const examples = fileURLToPath(
  new URL('../../../node_modules/@readme/oas-examples', import.meta.url),
);
let served: Awaited<ReturnType<typeof serveCatalog>>;
let db: Database;
let clock: FakeClock;
let folder: string;

beforeEach(async () => {
  served = await serveCatalog();
  ({ database: db, clock } = served);
  folder = temporaryFolder();
});

type How = { json?: boolean; isInteractive?: boolean; hasColour?: boolean };

const run = (args: string[], how: How = {}): Promise<ImportRun> =>
  runImport([...args, ...served.login()], { clock, ...how });

type Told = {
  server: string;
  dryRun: boolean;
  files: {
    file: string;
    outcome: string;
    id?: string;
    version?: string;
    findings?: object[];
    detail?: string;
  }[];
  summary: Record<string, number>;
};

async function told(...args: string[]): Promise<Told> {
  return JSON.parse((await run(args, { json: true })).out) as Told;
}

function put(name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const artifact = (facts: object = {}): string =>
  JSON.stringify({ id: 'orders', type: 'API', owner: 'team-a', title: 'Orders', ...facts });

const read = async (id: string, version: string, workspace = 'default'): Promise<unknown> =>
  readVersion(db, workspace, { id, version, withSpec: true });

describe('real documents', () => {
  test('of every version of OpenAPI are imported as drafts, and a second run changes nothing', async () => {
    for (const name of ['2.0/json/petstore.json', '3.0/json/star-trek.json'])
      cpSync(path.join(examples, name), path.join(folder, path.basename(name)));
    for (const name of ['readme', 'train-travel', 'webhooks'])
      cpSync(path.join(examples, `3.1/yaml/${name}.yaml`), path.join(folder, `${name}.yaml`));
    const first = await told(folder);
    expect(first.files).toEqual([
      { file: 'petstore.json', id: 'swagger-petstore', version: '1.0.0', outcome: 'created' },
      { file: 'readme.yaml', id: 'readme-api', version: '2.0.0', outcome: 'created' },
      { file: 'star-trek.json', id: 'stapi', version: '1.0.0', outcome: 'created' },
      { file: 'train-travel.yaml', id: 'train-travel-api', version: '1.0.0', outcome: 'created' },
      { file: 'webhooks.yaml', id: 'webhook-example', version: '1.0.0', outcome: 'created' },
    ]);
    const before = await read('train-travel-api', '1.0.0');
    expect(before).toMatchObject({
      record: {
        title: 'Train Travel API',
        lifecycle: 'DRAFT',
        source: 'FILE',
        type: 'API',
        owner: 'Train Support',
        findings: [],
        revision: 1,
      },
    });
    await clock.advance(1000);
    const second = await told(folder);
    expect(second.summary).toEqual({ created: 0, replaced: 0, unchanged: 5, failed: 0 });
    expect(await read('train-travel-api', '1.0.0')).toEqual(before);
    expect(await listAuditOf(db, 'artifact/default/stapi', { limit: 9 })).toHaveLength(1);
  });

  test('as YAML and as JSON are the same artifact', async () => {
    for (const kind of ['json', 'yaml'])
      cpSync(path.join(examples, `3.1/${kind}/readme.${kind}`), path.join(folder, `a.${kind}`));
    expect((await told(folder)).files).toMatchObject([
      { file: 'a.json', outcome: 'created' },
      { file: 'a.yaml', outcome: 'unchanged', detail: 'The same as a.json.' },
    ]);
  });
});

describe('a file that changed', () => {
  test('replaces its draft', async () => {
    put('a.json', artifact({ description: 'old', spec: { a: 1 }, counts: { b: 1, a: 2 } }));
    await told(folder);
    put('a.json', artifact({ counts: { a: 2, b: 1 } }));
    expect((await told(folder)).files[0]).toMatchObject({ outcome: 'replaced' });
    const found = await read('orders', '1.0.0');
    expect((found as { specText?: string }).specText).toBeUndefined();
    expect(found).toMatchObject({ record: { revision: 2, counts: { a: 2, b: 1 } } });
    expect((await told(folder)).files[0]).toMatchObject({ outcome: 'unchanged' });
  });

  test('fails when its version is published; unchanged it does not', async () => {
    put('a.json', artifact());
    await told(folder);
    const caller = { workspaceId: 'default', actor: { kind: 'cli' as const, subject: 'x' } };
    await publishVersion(served.catalog, caller, { id: 'orders' });
    expect((await told(folder)).files[0]).toMatchObject({ outcome: 'unchanged' });
    put('a.json', artifact({ title: 'New' }));
    const before = await read('orders', '1.0.0');
    expect((await told(folder)).files[0]).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('not a draft any more'),
    });
    expect(await read('orders', '1.0.0')).toEqual(before);
  });
});

test('--dry-run tells the same and writes nothing', async () => {
  put('a.json', artifact({ spec: { openapi: '3.0.0' } }));
  put('b.json', artifact({ id: 'x y' }));
  const plan = await told(folder, '--dry-run');
  expect(plan).toMatchObject({ dryRun: true, summary: { created: 1, failed: 1 } });
  expect(plan.files[0]?.findings).toContainEqual({
    severity: 'warning',
    pointer: '#/spec',
    line: 1,
    column: 63,
    code: 'required',
    detail: "must have required property 'info'",
  });
  expect(await read('orders', '1.0.0')).toEqual({ kind: 'no-artifact' });
  const done = await told(folder);
  expect(done.files).toEqual(plan.files);
});

test('a file of another type than its artifact fails, and --dry-run tells so', async () => {
  put('a.json', artifact());
  await told(folder);
  put('a.json', artifact({ type: 'EVENT' }));
  put('b.json', artifact({ type: 'EVENT', version: '2.0.0' }));
  put('c.json', artifact({ version: '3.0.0' }));
  put('d.json', artifact({ id: 'new' }));
  put('e.json', artifact({ id: 'NEW', type: 'EVENT', version: '2.0.0' }));
  put('f.json', artifact({ type: 'API' }));
  const plan = await told(folder, '--dry-run');
  const outcomes = ['replaced', 'created', 'failed', 'created', 'failed', 'failed'];
  expect(plan.files.map(({ outcome }) => outcome)).toEqual(outcomes);
  expect(plan.files[2]?.detail).toContain('the type EVENT');
  expect((await told(folder)).files).toEqual(plan.files);
});

describe('--id', () => {
  const document = (version: string, more: object = {}): string =>
    JSON.stringify({ openapi: '3.1.0', info: { title: 'Orders', version, ...more }, paths: {} });

  test('gives one of two documents of one title and version an id of its own', async () => {
    put('a.json', document('1.0.0'));
    put('sub/b.json', document('1.0.0', { description: 'Another' }));
    const { files } = await told(folder);
    expect(files[1]?.detail).toBe(
      'a.json has the same id and version: orders, 1.0.0. Give one of them another version, or an id of its own: --id sub/b.json=ID.',
    );
    const named = await told(folder, '--id', 'sub/b.json=orders-b');
    expect(named.files).toMatchObject([
      { file: 'a.json', outcome: 'unchanged' },
      { file: 'sub/b.json', id: 'orders-b', outcome: 'created' },
    ]);
    expect(await read('orders-b', '1.0.0')).toMatchObject({ kind: 'found' });
  });

  test('alone is that of the only file, which may be an artifact', async () => {
    put('a.json', artifact());
    const file = path.join(folder, 'a.json');
    expect((await told(file, '--id', 'b')).files).toMatchObject([{ id: 'b', outcome: 'created' }]);
    expect((await told(folder, '--id', 'c')).files).toMatchObject([{ id: 'c' }]);
  });

  test.each(['orders', 'c.json=orders', '=orders'])(
    '%s that names no file is refused',
    async (id) => {
      put('a.json', document('1.0.0'));
      put('b.json', document('2.0.0'));
      const { failure, failedAs } = await run([folder, '--id', id]);
      expect([failedAs, failure]).toEqual([
        'UsageError',
        expect.stringContaining(`--id ${id} names`),
      ]);
    },
  );
});

test('a file that fails stops no other, and the command fails', async () => {
  put('a.yaml', 'a: [');
  put('b.json', artifact({ type: 'UNKNOWN' }));
  put('c.json', '{}');
  put('d.json', artifact());
  put('e.yaml', artifact({ title: 'Another' }));
  const { out, failure } = await run([folder], { json: true });
  expect(failure).toMatch(/^3 of 5 failed/);
  const { files, summary } = JSON.parse(out) as Told;
  expect(summary).toEqual({ created: 1, replaced: 0, unchanged: 0, skipped: 1, failed: 3 });
  expect(files.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('not one YAML document'),
    expect.stringContaining('A type is one of'),
    expect.stringContaining('No OpenAPI or AsyncAPI document'),
    undefined,
    expect.stringContaining('d.json has the same id and version'),
  ]);
});

test('a folder is walked in order, without hidden files, node_modules and links', async () => {
  put('z.yml', artifact({ id: 'z' }));
  put('sub/a.JSON', artifact({ id: 'a' }));
  put('.hidden/b.json', artifact({ id: 'b' }));
  put('.c.json', artifact({ id: 'c' }));
  put('node_modules/d.json', artifact({ id: 'd' }));
  put('readme.md', 'words');
  symlinkSync(path.join(folder, 'z.yml'), path.join(folder, 'link.yml'));
  expect((await told(folder)).files.map(({ file }) => file)).toEqual(['sub/a.JSON', 'z.yml']);
});

test.each([
  [['/does/not/exist'], 'cannot be found'],
  [[], 'missing required argument'],
])('%j is a wrong command line', async (args, message) => {
  expect((await run(args)).failure).toContain(message);
});

test('an empty folder is a wrong command line', async () => {
  symlinkSync('/dev/null', path.join(folder, 'link.yaml'));
  const { failure, failedAs } = await run([folder]);
  expect(failedAs).toBe('UsageError');
  expect(failure).toMatch(/ holds no .*symbolic links are left out/);
});

test('people get a table and a sum, and control characters none', async () => {
  put('a.json', artifact({ id: 'or\u0007ders' }));
  put('b.json', artifact());
  const { out } = await run([folder, '--dry-run']);
  expect(out).toContain('FILE    ARTIFACT  VERSION  OUTCOME  REMARK');
  expect(out).toContain('b.json  orders    1.0.0    created');
  expect(out).toContain(
    'Nothing was written. It would be: 1 created, 0 replaced, 0 unchanged, 1 failed.',
  );
  expect(out).not.toContain('\u0007');
});

test('a terminal sees the progress, a pipe does not', async () => {
  put('a.json', artifact());
  expect((await run([folder])).notes).toBe('');
  const { notes } = await run([folder], { isInteractive: true });
  expect(notes).toContain('0/1 files  a.json');
  expect(notes).toContain('████████████████████████ 1/1 files');
});
