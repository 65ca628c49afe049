import { expect, test } from 'vitest';
import { openCatalogApp } from '../../../support/catalog.ts';

const least = { id: 'petstore', type: 'API', owner: 'team-a', title: 'Pet store' };

const openapi = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { responses: { 200: { description: 'ok' } } } } },
};

function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

test('a create with the required fields returns the draft, its address and its validator', async () => {
  const { call } = openCatalogApp();
  const made = await call('POST', '', { body: least });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    ...least,
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

test('every optional field comes back', async () => {
  const { call } = openCatalogApp();
  const full = {
    ...least,
    version: '2.0.0-rc.1',
    description: 'Größe "L" 🐈\nsecond line',
    source: 'GIT',
    spec: { a: null, b: [1, null, { c: [] }], '': 'empty', $ref: 4 },
    projectId: 'p-1',
    groupPath: 'shop/pets',
    members: ['other'],
    counts: { endpoints: 9007199254740991, none: 0 },
  };
  const made = await call('POST', '', { body: full });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    ...full,
    members: [],
    counts: { endpoints: 9007199254740991, none: 0, versions: 1, members: 0 },
  });
});

test('a spec keeps every digit, its nulls and its keys', async () => {
  const { call } = openCatalogApp();
  const spec =
    '{"big":12345678901234567890,"far":1e400,"tiny":5e-400,"fine":0.12345678901234567890123,"no":null,"constructor":{"toString":1}}';
  const raw = JSON.stringify(least).replace('}', `,"spec":${spec}}`);
  const made = await call('POST', '', { raw });
  expect(made.status).toBe(201);
  expect(made.text).toContain(`"spec":${spec}`);
  expect((await call('GET', '/petstore?version=1.0.0')).text).toContain(`"spec":${spec}`);
});

test('a version that exists is reported, with its state, whatever the case of the id', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: { ...least, version: '1.0.0' } });
  const again = await call('POST', '', { body: { ...least, id: 'PetStore', version: '1.0.0' } });
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({ code: 'version-exists', current: 'DRAFT' });
});

test('another type than that of the first version is refused, with the one to send', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least });
  for (const id of ['petstore', 'PetStore']) {
    const refused = await call('POST', '', { body: { ...least, id, type: 'EVENT' } });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      code: 'validation-failed',
      errors: [{ pointer: '#/type', code: 'mismatch', detail: expect.stringContaining('"API"') }],
    });
  }
  expect((await call('GET', '/petstore/versions')).body.items).toHaveLength(1);
  const elsewhere = { body: { ...least, type: 'EVENT' }, as: { workspaceId: 'team-b' } };
  expect((await call('POST', '', elsewhere)).status).toBe(201);
});

test.each([
  ['title', { title: '\u200b\u2060' }],
  ['owner', { owner: ' \u3164' }],
  ['projectId', { projectId: '\u2800' }],
  ['description', { description: '\u202e' }],
  ['groupPath', { groupPath: 'sales/\u200b' }],
  ['counts/%E2%80%8B', { counts: { '\u200b': 1 } }],
])('%s that nobody can see is refused, with what to do', async (pointer, fields) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: { ...least, ...fields } });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([
    expect.objectContaining({
      pointer: `#/${pointer}`,
      detail: expect.stringMatching(/can be seen|visible/),
    }),
  ]);
});

test.each(['id', 'version', 'owner', 'title', 'description'])(
  '%s of another kind is refused for that, and for nothing else',
  async (field) => {
    const { call } = openCatalogApp();
    const refused = await call('POST', '', { body: { ...least, [field]: 5 } });
    expect(refused.body.errors).toEqual([
      { pointer: `#/${field}`, code: 'invalid', detail: `\`${field}\` must be a text.` },
    ]);
  },
);

test.each([
  ['lifecycle', 'PUBLISHED'],
  ['createdAt', '2026-01-01T00:00:00Z'],
  ['updatedAt', '2026-01-01T00:00:00Z'],
  ['publishedAt', '2026-01-01T00:00:00Z'],
  ['sunsetAt', '2027-01-01T00:00:00Z'],
  ['workspaceId', 'other'],
  ['findings', []],
  ['colour', 'red'],
])('%s cannot be written', async (field, value) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: { ...least, [field]: value } });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([
    expect.objectContaining({ pointer: `#/${field}`, code: 'unknown' }),
  ]);
});

test.each([
  ['id', 'a b'],
  ['id', '.a'],
  ['id', 'a-'],
  ['id', 'a/b'],
  ['id', 'x'.repeat(129)],
  ['id', ''],
  ['version', '1.0.0+b1'],
  ['version', '-1'],
  ['version', '1.'],
  ['version', '1'.repeat(65)],
  ['type', 'api'],
  ['type', 'UNKNOWN'],
  ['type', 7],
  ['owner', ''],
  ['owner', ' '],
  ['owner', 'x'.repeat(201)],
  ['title', 'x'.repeat(201)],
  ['title', null],
  ['title', 'bell\u0007'],
  ['description', 'x'.repeat(10_001)],
  ['source', 'file'],
  ['source', 'UNKNOWN'],
  ['spec', 'text'],
  ['spec', []],
  ['spec', null],
  ['projectId', 'x'.repeat(201)],
  ['projectId', 'x\ud800'],
  ['owner', '\udc00x'],
  ['title', 'a\ud83d'],
  ['title', '😀'.repeat(201)],
  ['description', '\ude00\ud83d'],
  ['groupPath', '/a'],
  ['groupPath', 'a//b'],
  ['groupPath', 'a/'],
  ['groupPath', 'a/ b'],
  ['groupPath', Array(17).fill('a').join('/')],
  ['groupPath', 'x'.repeat(513)],
  ['groupPath', '😀'.repeat(513)],
  ['groupPath', 'a/\ud800'],
  ['members', 'one'],
  ['members', Array.from({ length: 1001 }, (_, index) => `m${index}`)],
  ['counts', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1]))],
])('a wrong %s is refused by its pointer: %j', async (field, value) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: { ...least, [field]: value } });
  expect(refused.status).toBe(400);
  expect(refused.body.code).toBe('validation-failed');
  expect(refused.body.errors[0].pointer).toBe(`#/${field}`);
});

test.each([
  ['members', ['a', 'A'], '#/members/1'],
  ['members', ['a', 'b c'], '#/members/1'],
  ['counts', { a: -1 }, '#/counts/a'],
  ['counts', { a: 1.5 }, '#/counts/a'],
  ['counts', { a: 2 ** 53 }, '#/counts/a'],
  ['counts', { ['😀'.repeat(65)]: 1 }, '#/counts'],
  ['counts', { 'a\ud800': 1 }, '#/counts/a%EF%BF%BD'],
  ['counts', { versions: 1 }, '#/counts/versions'],
  ['counts', { 'members.API': 1 }, '#/counts/members.API'],
])('one wrong element of %s is pointed at: %j', async (field, value, pointer) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: { ...least, [field]: value } });
  expect(refused.status).toBe(400);
  expect(refused.body.errors).toEqual([expect.objectContaining({ pointer })]);
});

test('all mistakes come in one response', async () => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: { id: '-', type: 'x', colour: 1, title: '' } });
  const pointers = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(pointers.sort()).toEqual(['#/colour', '#/id', '#/owner', '#/title', '#/type']);
});

test('longest allowed values are accepted', async () => {
  const { call } = openCatalogApp();
  const made = await call('POST', '', {
    body: {
      ...least,
      id: `a${'.'.repeat(126)}z`,
      version: `1${'-'.repeat(62)}z`,
      type: 'DASHBOARD',
      owner: 'x'.repeat(200),
      title: 'x'.repeat(200),
      description: 'x'.repeat(10_000),
      groupPath: Array(16).fill('abc').join('/'),
      members: Array.from({ length: 1000 }, (_, index) => `m${index}`),
      counts: Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 1])),
    },
  });
  expect(made.status).toBe(201);
});

test('lengths are counted in characters, as the OpenAPI document means them', async () => {
  const { call } = openCatalogApp();
  const body = {
    ...least,
    owner: '😀'.repeat(200),
    title: '😀'.repeat(200),
    description: '😀'.repeat(10_000),
    projectId: '😀'.repeat(200),
    groupPath: '😀'.repeat(512),
    counts: { ['😀'.repeat(64)]: 1 },
  };
  const made = await call('POST', '', { body });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject(body);
});

test('a spec of 64 levels is stored, one of 65 is refused', async () => {
  const { call } = openCatalogApp();
  const stored = await call('POST', '', { body: { ...least, spec: nested(64) } });
  expect(stored.status).toBe(201);
  expect(stored.body.spec).toEqual(nested(64));
  const refused = await call('POST', '', { body: { ...least, spec: nested(65) } });
  expect(refused.status).toBe(400);
  expect(refused.body.code).toBe('malformed-json');
});

test.each(['__proto__', String.raw`\u005f_proto__`])(
  'a %s key anywhere is refused',
  async (key) => {
    const { call } = openCatalogApp();
    const raw = JSON.stringify(least).replace('}', `,"spec":{"a":[{"${key}":{"x":1}}]}}`);
    const refused = await call('POST', '', { raw });
    expect(refused.status).toBe(400);
    expect(refused.body.code).toBe('malformed-json');
  },
);

test('a large spec is stored as it was written, and replaced by another', async () => {
  const { call } = openCatalogApp();
  const specOf = (n: string) =>
    `{"n":${n},"2":null,"1":[${'0.5,'.repeat(11_000)}1e400],"é":"${'é'.repeat(200_000)}"}`;
  const inBody = (spec: string) => JSON.stringify(least).replace('}', `,\n"spec": ${spec}}`);
  const made = await call('POST', '', { raw: inBody(specOf('12345678901234567890')) });
  expect(made.status).toBe(201);
  const stored = await call('GET', '/petstore?version=1.0.0');
  const compact = specOf('12345678901234567890');
  expect(stored.text.length).toBeGreaterThan(compact.length);
  expect(stored.text).toContain('"n":12345678901234567890,');
  expect(stored.text).toContain(',1e400]');
  expect(made.text === stored.text).toBe(true);
  const replaced = await call('PUT', '/petstore?version=1.0.0', {
    raw: inBody(specOf('7')),
    headers: { 'if-match': String(made.headers['etag']) },
  });
  expect(replaced.status).toBe(200);
  expect((await call('GET', '/petstore?version=1.0.0')).text).toContain('"n":7,');
});

test('a PATCH takes no spec', async () => {
  const { call } = openCatalogApp();
  await call('POST', '', { body: least });
  const headers = { 'if-match': '*' };
  const patched = await call('PATCH', '/petstore', { body: { spec: { a: 1 } }, headers });
  expect(patched.body.errors).toMatchObject([{ pointer: '#/spec', code: 'unknown' }]);
});

test('a name that stands twice anywhere is refused', async () => {
  const { call } = openCatalogApp();
  const spec = '{"n":12345678901234567890,"a":[{"b":1,"\\u0062":2}]}';
  const inSpec = JSON.stringify(least).replace('}', `,"spec":${spec}}`);
  for (const raw of [inSpec, JSON.stringify(least).replace('}', ',"id":"other"}')]) {
    const refused = await call('POST', '', { raw });
    expect(refused.body).toMatchObject({ status: 400, code: 'malformed-json' });
  }
  expect((await call('GET', '')).body.items).toEqual([]);
});

test.each(['', '{}{}'])('%j is not one JSON text', async (raw) => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { raw, headers: { 'content-type': 'application/json' } });
  expect(refused.status).toBe(400);
});

test('a spec of 5 MiB is stored, of one byte more refused', async () => {
  const { call } = openCatalogApp();
  const specOf = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
  const stored = await call('POST', '', { body: { ...least, spec: specOf(5 * 1024 * 1024) } });
  expect(stored.status).toBe(201);
  const refused = await call('POST', '', {
    body: { ...least, id: 'other', spec: specOf(5 * 1024 * 1024 + 1) },
  });
  expect(refused.status).toBe(413);
  expect(refused.body).toMatchObject({
    code: 'payload-too-large',
    errors: [{ pointer: '#/spec' }],
  });
});

test('a body of more than 6 MiB is refused', async () => {
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { raw: `"${'x'.repeat(6 * 1024 * 1024)}"` });
  expect(refused.status).toBe(413);
  expect(refused.body.code).toBe('payload-too-large');
});

test('a million keys are refused, whatever their size', async () => {
  const { call } = openCatalogApp();
  const keys = `{${Array.from({ length: 1_000_000 }, () => '"":0').join(',')}}`;
  const raw = JSON.stringify(least).replace('}', `,"spec":${keys}}`);
  const refused = await call('POST', '', { raw });
  expect(refused.status).toBe(413);
  expect(refused.body.code).toBe('payload-too-large');
});

test('findings in a draft are reported and refuse nothing; a valid document has none', async () => {
  const { call } = openCatalogApp();
  const { info: _left, ...broken } = openapi;
  const made = await call('POST', '', { body: { ...least, spec: broken } });
  expect(made.status).toBe(201);
  expect(made.body.findings).toEqual([
    { pointer: '#/spec', code: 'required', detail: "must have required property 'info'" },
  ]);
  const valid = await call('POST', '', { body: { ...least, spec: openapi } });
  expect(valid.body).not.toHaveProperty('findings');
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
  const { call } = openCatalogApp();
  const refused = await call('POST', '', { body: wrongDraft });
  expect(refused.status).toBe(400);
  const errors = refused.body.errors as { pointer: string; detail: string }[];
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(wrongPlaces);
  expect(errors.find(({ pointer }) => pointer === '#/type')?.detail).toContain('DASHBOARD');
});

test('of a replace, too, with an address that differs and headers that are wrong', async () => {
  const { call } = openCatalogApp();
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

test('of an edit, too', async () => {
  const { call } = openCatalogApp();
  const body = { title: ' ', owner: 3, groupPath: '/', description: '\u0007', more: 1 };
  const refused = await call('PATCH', '/petstore', { body });
  const errors = refused.body.errors as { pointer: string }[];
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(
    ['description', 'groupPath', 'more', 'owner', 'title'].map((name) => `#/${name}`),
  );
});
