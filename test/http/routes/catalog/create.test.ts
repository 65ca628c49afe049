import { expect, test } from 'vitest';
import { openWorld } from '../../../support/world.ts';
import { petstore } from '../../../support/catalog.ts';

const nested = (levels: number): string =>
  `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const numbered = (length: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 1]));

test('a create with the required fields returns the draft, its address and its validator', async () => {
  const { callCatalog: call } = openWorld();
  const made = await call('POST', '', { body: petstore });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    ...petstore,
    version: '1.0.0',
    lifecycle: 'DRAFT',
    source: 'INLINE',
    createdAt: '2026-03-01T12:00:00Z',
    updatedAt: '2026-03-01T12:00:00Z',
    workspaceId: 'default',
    counts: { versions: 1, members: 0 },
  });
  expect(made.headers['location']).toBe('/api/v1/catalog/petstore?version=1.0.0');
  expect(made.headers['content-location']).toBe(made.headers['location']);
  expect(made.headers['etag']).toMatch(/^"[\w-]+"$/);
  const read = await call('GET', '/petstore?version=1.0.0');
  expect(read.body).toEqual(made.body);
  expect(read.headers['etag']).toBe(made.headers['etag']);
});

test('every field comes back, also at its greatest length, which is counted in characters', async () => {
  const { callCatalog: call } = openWorld();
  const full = {
    ...petstore,
    id: `a${'.'.repeat(126)}z`,
    version: `1${'-'.repeat(62)}z`,
    type: 'DASHBOARD',
    owner: '😀'.repeat(200),
    title: '😀'.repeat(200),
    description: `Größe "L"\n${'😀'.repeat(9990)}`,
    source: 'GIT',
    spec: { a: null, b: [1, null, { c: [] }], '': 'empty', $ref: 4 },
    projectId: '😀'.repeat(200),
    groupPath: '😀'.repeat(512),
    members: Array.from({ length: 1000 }, (_, index) => `m${index}`),
    counts: { ['😀'.repeat(64)]: 9007199254740991, ...numbered(63) },
  };
  const made = await call('POST', '', { body: full });
  expect(made.status).toBe(201);
  const counts = { ...full.counts, versions: 1, members: 0 };
  expect(made.body).toMatchObject({ ...full, members: [], counts });
});

test('a version that exists is reported, with its state, whatever the case of the id', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: { ...petstore, version: '1.0.0' } });
  const again = await call('POST', '', { body: { ...petstore, id: 'PetStore', version: '1.0.0' } });
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({ code: 'version-exists', current: 'DRAFT' });
});

test('another type than that of the first version is refused, with the one to send', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: petstore });
  const refused = await call('POST', '', { body: { ...petstore, id: 'PetStore', type: 'EVENT' } });
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({
    code: 'validation-failed',
    errors: [{ pointer: '#/type', code: 'mismatch', detail: expect.stringContaining('"API"') }],
  });
});

test.each([
  ['id', 'a b'],
  ['id', '.a'],
  ['id', 'x'.repeat(129)],
  ['id', 5],
  ['version', '1.0.0+b1'],
  ['version', '1'.repeat(65)],
  ['type', 'api'],
  ['type', 7],
  ['owner', ' \u3164'],
  ['owner', '😀'.repeat(201)],
  ['title', null],
  ['title', 'bell\u0007'],
  ['title', '\u200b\u2060'],
  ['title', 'a\ud83d'],
  ['description', '\u202e'],
  ['description', 'x'.repeat(10_001)],
  ['source', 'file'],
  ['spec', []],
  ['spec', null],
  ['projectId', 'x'.repeat(201)],
  ['groupPath', 'a//b'],
  ['groupPath', 'sales/\u200b'],
  ['groupPath', Array(17).fill('a').join('/')],
  ['groupPath', '😀'.repeat(513)],
  ['members', 'one'],
  ['members', Array.from({ length: 1001 }, (_, index) => `m${index}`)],
  ['members', ['a', 'A'], '/1'],
  ['members', ['a', 'b c'], '/1'],
  ['counts', numbered(65)],
  ['counts', { ['😀'.repeat(65)]: 1 }],
  ['counts', { a: 1.5 }, '/a'],
  ['counts', { a: 2 ** 53 }, '/a'],
  ['counts', { 'a\ud800': 1 }, '/a%EF%BF%BD'],
  ['counts', { 'members.API': 1 }, '/members.API'],
  ['lifecycle', 'PUBLISHED'],
  ['colour', 'red'],
])('a wrong %s is refused at its place, and nothing else: %j', async (field, value, below = '') => {
  const { callCatalog: call } = openWorld();
  const refused = await call('POST', '', { body: { ...petstore, [field]: value } });
  expect(refused.status).toBe(400);
  expect(refused.body.code).toBe('validation-failed');
  const places = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(new Set(places)).toEqual(new Set([`#/${field}${below}`]));
});

const withSpec = (spec: string): string =>
  JSON.stringify(petstore).replace('}', `,"spec":${spec}}`);

test.each([
  ['nothing', ''],
  ['two texts', '{}{}'],
  ['a spec of 65 levels', withSpec(nested(65))],
  ['__proto__', withSpec('{"a":[{"__proto__":{"x":1}}]}')],
  ['an escaped __proto__', withSpec(String.raw`{"a":[{"\u005f_proto__":{"x":1}}]}`)],
  [
    'a name twice in the spec',
    withSpec(String.raw`{"n":12345678901234567890,"a":[{"b":1,"\u0062":2}]}`),
  ],
  ['a name twice', JSON.stringify(petstore).replace('}', ',"id":"other"}')],
])('%s is malformed, and nothing is made of it', async (_what, raw) => {
  const { callCatalog: call } = openWorld();
  const refused = await call('POST', '', { raw, headers: { 'content-type': 'application/json' } });
  expect(refused.body).toMatchObject({ status: 400, code: 'malformed-json' });
  expect((await call('GET', '')).body.items).toEqual([]);
});

test('a spec of 64 levels is stored', async () => {
  const { callCatalog: call } = openWorld();
  const stored = await call('POST', '', { raw: withSpec(nested(64)) });
  expect([stored.status, stored.text.includes(nested(64))]).toEqual([201, true]);
});

test('a spec keeps every digit, its nulls and its keys, a large one too, and is replaced by another', async () => {
  const { callCatalog: call } = openWorld();
  const few = '{"far":1e400,"tiny":5e-400,"no":null,"constructor":{"toString":1}}';
  const small = await call('POST', '', { raw: withSpec(few) });
  expect(small.text).toContain(`"spec":${few}`);
  const specOf = (n: string) =>
    `{"n":${n},"2":null,"1":[${'0.5,'.repeat(11_000)}1e400],"é":"${'é'.repeat(200_000)}"}`;
  const made = await call('POST', '', { raw: withSpec(specOf('12345678901234567890')) });
  expect(made.status).toBe(201);
  const stored = await call('GET', '/petstore?version=1.1.0');
  for (const part of ['"n":12345678901234567890,', ',1e400]']) expect(stored.text).toContain(part);
  expect(made.text === stored.text).toBe(true);
  const replaced = await call('PUT', '/petstore?version=1.1.0', {
    raw: withSpec(specOf('7')).replace('"id":"petstore",', ''),
    headers: { 'if-match': String(made.headers['etag']) },
  });
  expect(replaced.status).toBe(200);
  expect((await call('GET', '/petstore?version=1.1.0')).text).toContain('"n":7,');
});

test('a spec of 5 MiB is stored, of one byte more refused', async () => {
  const { callCatalog: call } = openWorld();
  const specOf = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
  const stored = await call('POST', '', { body: { ...petstore, spec: specOf(5 * 1024 * 1024) } });
  expect(stored.status).toBe(201);
  const refused = await call('POST', '', {
    body: { ...petstore, id: 'other', spec: specOf(5 * 1024 * 1024 + 1) },
  });
  expect(refused.status).toBe(413);
  expect(refused.body).toMatchObject({
    code: 'payload-too-large',
    errors: [{ pointer: '#/spec' }],
  });
});

test.each([
  ['a body of more than 6 MiB', `"${'x'.repeat(6 * 1024 * 1024)}"`],
  ['a million keys', withSpec(`{${Array.from({ length: 1_000_000 }, () => '"":0').join(',')}}`)],
])('%s is refused, whatever else it is', async (_what, raw) => {
  const { callCatalog: call } = openWorld();
  const refused = await call('POST', '', { raw });
  expect(refused.body).toMatchObject({ status: 413, code: 'payload-too-large' });
});

const wrongDraft = {
  id: '/',
  type: 'DATASET',
  owner: ' ',
  title: 'a\u0000b',
  source: 'nowhere',
  sorce: 'GIT',
  members: ['a', 3, 'A'],
  counts: { versions: 1, '': 2, fine: -1 },
  groupPath: 'a//b',
  spec: [],
};
const wrongPlaces = [
  '#/counts/',
  '#/counts/fine',
  '#/counts/versions',
  '#/groupPath',
  '#/id',
  '#/members/1',
  '#/members/2',
  '#/owner',
  '#/sorce',
  '#/source',
  '#/spec',
  '#/title',
  '#/type',
];

test('everything that is wrong with a draft is reported at once, configured words among it', async () => {
  const { callCatalog: call } = openWorld();
  const refused = await call('POST', '', { body: wrongDraft });
  expect(refused.status).toBe(400);
  const errors = refused.body.errors as { pointer: string; detail: string }[];
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(wrongPlaces);
  expect(errors.find(({ pointer }) => pointer === '#/type')?.detail).toContain('DASHBOARD');
});

test('of a replace, too, with an address that differs and headers that are wrong', async () => {
  const { callCatalog: call } = openWorld();
  const refused = await call('PUT', '/petstore?version=1.0.0&x=1', {
    body: { ...wrongDraft, id: 'other', version: '2' },
    headers: { 'if-match': 'open' },
  });
  const errors = refused.body.errors as Record<string, string>[];
  const places = errors.map(({ pointer, parameter, header }) =>
    String(pointer ?? parameter ?? header),
  );
  expect(places.toSorted()).toEqual(['#/version', ...wrongPlaces, 'If-Match', 'x'].toSorted());
});
