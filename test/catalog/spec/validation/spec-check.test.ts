import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINDINGS_MAX } from '#catalog/version/artifact.ts';
import { specKindOf } from '#catalog/spec/places.ts';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';
import { treesOf } from './trees.ts';

const paths = { '/a': { get: { responses: { 200: { description: 'ok' } } } } };
const info = { title: 'x', version: '1' };
const valid = (facts: object): object => ({ info, paths, ...facts });
const check = async (document: object) => findingsOf(JSON.stringify(document));

test.each([
  [{ openapi: '3.0.4' }],
  [{ openapi: '3.1.1' }],
  [{ openapi: '3.2.0' }],
  [{ swagger: '2.0' }],
])('a valid document of %j has no findings', async (facts) => {
  expect(await check(valid(facts))).toEqual([]);
});

test.each([
  [{ openapi: '4.0.0' }, '#/spec/openapi'],
  [{ openapi: 3 }, '#/spec/openapi'],
  [{ swagger: '1.2' }, '#/spec/swagger'],
  [{ swagger: 2 }, '#/spec/swagger'],
])('a version that is not known is a finding: %j', async (facts, pointer) => {
  expect(await check(valid(facts))).toEqual([
    expect.objectContaining({ pointer, code: 'unknown-version' }),
  ]);
});

test.each([[{ type: 'object' }], [{}], [{ data: { openapi: '3.0.0', asyncapi: '3.0.0' } }]])(
  'what says of itself that it follows no standard is not validated: %j',
  async (document) => {
    expect(await check(document)).toEqual([]);
  },
);

test('kinds are told by the document itself', () => {
  expect(specKindOf({ openapi: '3.0.0' })).toBe('openapi');
  expect(specKindOf({ swagger: '2.0' })).toBe('openapi');
  expect(specKindOf({ asyncapi: '2.6.0' })).toBe('asyncapi');
  expect(specKindOf({})).toBe('other');
  expect(specKindOf(null)).toBe('other');
});

test('pointers lead to the place, escaped for a fragment', async () => {
  const document = valid({ openapi: '3.0.0', paths: { '/a b/ü': { get: { responses: 1 } } } });
  const findings = await check(document);
  expect(findings[0]?.pointer).toBe('#/spec/paths/~1a%20b~1%C3%BC/get/responses');
});

test('names of any length do not come back with each finding below them', async () => {
  const refs = Array.from({ length: FINDINGS_MAX }, (_, at) => ({ $ref: `#/no/${at}` }));
  const responses = { 200: { description: 'ok', 'x-a': 1, content: { a: { examples: 1 } } } };
  const pathOf = (name: string) => ({
    [`/${name}`]: { get: { parameters: refs, responses } },
  });
  for (const name of ['a'.repeat(100_000), 'ü'.repeat(200), 'a/'.repeat(500)]) {
    const findings = await check(valid({ openapi: '3.0.0', paths: pathOf(name) }));
    expect(findings.length).toBeGreaterThan(FINDINGS_MAX);
    expect(new Set(findings.map(({ pointer }) => pointer))).toEqual(
      new Set(['#/spec/paths', '#/spec']),
    );
  }
  const nested = Array.from({ length: 30 }).reduce<object>(
    (inner) => ({ properties: { ['p'.repeat(200)]: inner } }),
    { $ref: '#/no' },
  );
  const [deep] = await check(valid({ openapi: '3.0.0', components: { schemas: { A: nested } } }));
  const above = `/properties/${'p'.repeat(200)}`.repeat(4);
  expect(deep?.pointer).toBe(`#/spec/components/schemas/A${above}/properties`);
});

const dialects = [{ openapi: '3.1.1' }, { openapi: '3.2.0' }];
const faults: [unknown, string][] = [
  [{ type: 'strng' }, '/type enum'],
  [{ type: ['string', 'strng'] }, '/type/1 enum'],
  [{ properties: { a: { required: 'a' } } }, '/properties/a/required type'],
  [{ items: [{ type: 'string' }] }, '/items type'],
  [{ allOf: [{ minLength: -1 }] }, '/allOf/0/minLength minimum'],
  [{ exclusiveMinimum: true }, '/exclusiveMinimum type'],
  [{ pattern: '(' }, '/pattern format'],
  [{ discriminator: 'kind' }, '/discriminator type'],
  [{ $defs: { a: { enum: 'b' } } }, '/$defs/a/enum type'],
  [5, ' type'],
];

test.each(dialects.flatMap((facts) => faults.map(([schema, found]) => ({ facts, schema, found }))))(
  'a schema of $facts is held to its own dialect: $schema has one finding',
  async ({ facts, schema, found }) => {
    const findings = await check(valid({ ...facts, components: { schemas: { A: schema } } }));
    expect(findings.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      `#/spec/components/schemas/A${found}`,
    ]);
  },
);

const wrong = { schema: { type: 'strng' } };
const inBody = (media: object) => ({ '/a': { post: { requestBody: { content: { a: media } } } } });
const ok = (facts: object) => ({
  '/a': { get: { responses: { 200: { description: 'ok', ...facts } } } },
});
const places: [string, object][] = [
  ['a body', { paths: inBody(wrong) }],
  ['a response', { paths: ok({ content: { a: wrong } }) }],
  ['a header', { paths: ok({ headers: { A: wrong } }) }],
  ['the content of a header', { paths: ok({ headers: { A: { content: { a: wrong } } } }) }],
  [
    'the content of a parameter',
    { components: { parameters: { A: { name: 'a', in: 'query', content: { a: wrong } } } } },
  ],
  ['a header of a part', { paths: inBody({ encoding: { b: { headers: { A: wrong } } } }) }],
  ['a webhook', { webhooks: { a: inBody(wrong)['/a'] } }],
  [
    'a callback',
    {
      paths: {
        '/a': {
          get: { callbacks: { a: inBody(wrong) }, responses: { 200: { description: 'ok' } } },
        },
      },
    },
  ],
  ['a shared body', { components: { requestBodies: { A: { content: { a: wrong } } } } }],
  [
    'a shared response',
    { components: { responses: { A: { description: 'a', content: { a: wrong } } } } },
  ],
  ['a shared path', { components: { pathItems: { A: inBody(wrong)['/a'] } } }],
];
const newPlaces: [string, object][] = [
  ['an element of a stream', { paths: inBody({ itemSchema: wrong.schema }) }],
  ['a shared media type', { components: { mediaTypes: { A: wrong } } }],
  [
    'a method of its own',
    {
      paths: {
        '/a': { additionalOperations: { COPY: { requestBody: { content: { a: wrong } } } } },
      },
    },
  ],
  ['a query', { paths: { '/a': { query: inBody(wrong)['/a'].post } } }],
];

test.each([
  ...dialects.flatMap((facts) => places.map(([where, parts]) => ({ facts, where, parts }))),
  ...newPlaces.map(([where, parts]) => ({ facts: { openapi: '3.2.0' }, where, parts })),
])('a schema of $facts is looked at in $where', async ({ facts, parts }) => {
  const findings = await check(valid({ ...facts, ...parts }));
  expect(findings.map(({ code, pointer }) => [code, pointer.endsWith('chema/type')])).toEqual([
    ['enum', true],
  ]);
});

const old = { exclusiveMinimum: true };
const draft = 'https://json-schema.org/draft/2020-12/schema';
test.each<[string, object, object, string[]]>([
  [
    'another dialect of the document',
    { jsonSchemaDialect: 'http://json-schema.org/draft-04/schema#' },
    old,
    [],
  ],
  [
    'its own',
    { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' },
    old,
    ['type'],
  ],
  [
    'of the schema',
    { jsonSchemaDialect: 'https://a.example/b' },
    { $schema: draft, ...old },
    ['type'],
  ],
  ['of the schema, with a fragment', {}, { $schema: `${draft}#`, ...old }, ['type']],
  [
    'another one of the schema',
    {},
    { $schema: 'http://json-schema.org/draft-04/schema#', ...old },
    [],
  ],
])('schemas are judged by 2020-12 alone: %s', async (_what, facts, A, codes) => {
  for (const dialect of dialects) {
    const findings = await check(valid({ ...dialect, ...facts, components: { schemas: { A } } }));
    expect(findings.map(({ code }) => code)).toEqual(codes);
  }
});

test.each(dialects)('what a schema of %j may say has no findings', async (facts) => {
  const schemas = {
    Any: true,
    Nullable: { type: ['string', 'null'], examples: ['a'], const: 'a', 'x-a': 1 },
    Tuple: { prefixItems: [{ type: 'integer' }], items: false, unevaluatedItems: false },
    Kinds: {
      oneOf: [{ $ref: '#/components/schemas/Tuple', description: 'beside a reference' }],
      discriminator: { propertyName: 'kind', mapping: { tuple: '#/components/schemas/Tuple' } },
      xml: { name: 'kinds', wrapped: true },
      externalDocs: { url: 'https://example.com' },
    },
    Elsewhere: { $schema: 'http://json-schema.org/draft-04/schema#', exclusiveMinimum: true },
  };
  expect(await check(valid({ ...facts, components: { schemas } }))).toEqual([]);
});

test('one fault in a document of the dialect of old is one finding', async () => {
  const A = { name: 'a', in: 'query', schema: { type: 'strng' } };
  for (const [facts, pointer] of [
    [{ swagger: '2.0', definitions: { A: A.schema } }, '/definitions/A/type'],
    [
      { openapi: '3.0.4', components: { parameters: { A } } },
      '/components/parameters/A/schema/type',
    ],
  ] as const)
    expect(await check(valid(facts))).toEqual([
      expect.objectContaining({ pointer: `#/spec${pointer}`, code: 'enum' }),
    ]);
});

test.each([
  [{ swagger: '2.0' }],
  [{ openapi: '3.0.4' }],
  [{ openapi: '3.1.1' }],
  [{ openapi: '3.2.0' }],
])(
  'paths and operation ids that are there twice in a document of %j are findings',
  async (facts) => {
    const operation = { operationId: 'read', responses: { 200: { description: 'ok' } } };
    const twice = { '/a/{x}/b': { get: operation }, '/a/{y}/b': { put: operation }, '/a/b': {} };
    const findings = await check(valid({ ...facts, paths: twice }));
    expect(findings.map(({ pointer, code, detail }) => [pointer, code, detail])).toEqual([
      [
        '#/spec/paths/~1a~1%7By%7D~1b',
        'equivalent-path',
        'is the same path as /a/{x}/b: only names in braces differ',
      ],
      [
        '#/spec/paths/~1a~1%7By%7D~1b/put/operationId',
        'duplicate-operation-id',
        'read is the operationId of get /a/{x}/b, too',
      ],
    ]);
  },
);

test.each(['2.0', '3.0.0', '3.1.0'])(
  'thousands of faults in one list of a document of %s are no work for minutes',
  async (version) => {
    const facts = version === '2.0' ? { swagger: version } : { openapi: version };
    const wrong = Array.from({ length: 4000 }, () => ({ type: 5 }));
    const named = Object.fromEntries(wrong.map((schema, at) => [`S${at}`, { allOf: [schema] }]));
    const parts = version === '2.0' ? { definitions: named } : { components: { schemas: named } };
    const findings = await check(valid({ ...facts, ...parts }));
    expect(findings).toHaveLength(FINDINGS_MAX + 1);
    expect(findings.at(-1)?.code).toBe('more');
  },
);

test('findings are many at once, but bounded in number and length', async () => {
  const wrong = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `/p${index}`,
      { get: { responses: {}, ['x'.repeat(index === 0 ? 400 : 9)]: 1 } },
    ]),
  );
  const findings = await check(valid({ swagger: '2.0', paths: wrong }));
  expect(findings.length).toBeGreaterThan(1);
  expect(findings.length).toBeLessThanOrEqual(FINDINGS_MAX + 1);
  for (const { detail } of findings) expect(detail.length).toBeLessThanOrEqual(300);
});

test('a malformed reference is found among other findings', async () => {
  const document = valid({ openapi: '3.1.0', 'x-a': 1, b: { $ref: '#/%ZZ' } });
  const codes = (await check(document)).map(({ code }) => code);
  expect(codes).toEqual(['unevaluatedProperties', 'unresolved-reference']);
});

test('whatever stands in a document, it is checked and never thrown at', async () => {
  const names = ['$ref', '$id', '$anchor', '$schema', '$dynamicRef', 'paths', 'a/~b'];
  const tree = treesOf(names, ['#', '#/', '#/paths', '#a']);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('3.0.0', '3.1.0', '3.2.0'), tree, async (openapi, node) => {
      expect(await check(valid({ openapi, components: node, 'x-data': node }))).toBeInstanceOf(
        Array,
      );
    }),
    { numRuns: 300 },
  );
});

test('two documents at once do not mix up their findings', async () => {
  const [left, right] = await Promise.all([
    check(valid({ openapi: '3.0.0' })),
    check({ openapi: '3.0.0' }),
  ]);
  expect(left).toEqual([]);
  expect(right).not.toEqual([]);
});
