import {
  answers,
  api,
  asks,
  document,
  gives,
  json,
  type Json,
  number,
  object,
  oldApi,
  query,
  ref,
  type Row,
  takes,
  text,
} from './documents.ts';

/**
 * A third list: what stands twice in one schema, what goes by another name, and conversions from one version to the
 * next. Where it cannot be told whether somebody is hurt, it is neither breaking nor compatible.
 */
const base = object({ kind: { ...text, enum: ['a', 'b'] }, n: number }, { required: ['kind'] });
const described = object({ kind: { description: 'of what kind' }, n: { description: 'how many' } });
const within = (first: Json): Json => ({ allOf: [first, described] });
const beside = (schemas: Json, facts: Json = {}): [Json, Json] => [
  { ...ref('A'), ...facts },
  { schemas: { A: base, ...schemas } },
];
const list = { type: 'array', items: text };
const media = (...types: string[]): Json =>
  answers(Object.fromEntries(types.map((type) => [type, { schema: text }])));
const pets = (names: string[], more: Json = {}): Json => ({
  oneOf: names.map((name) => ref(name)),
  discriminator: { propertyName: 'kind', ...more },
});
const kinds = Object.fromEntries(
  ['Cat', 'Dog', 'Kitty'].map((name) => [name, object({ kind: text }, { required: ['kind'] })]),
);
const listed = (...urls: string[]): Json =>
  document({ servers: urls.map((url) => ({ url })), paths: {} });
const anchored = (schema: Json, target: string): Json =>
  gives(
    { $ref: target },
    { schemas: { A: { $anchor: 'a', $id: 'https://a.example/a', ...schema } } },
  );
const header = (name: string): Json => takes({ name, in: 'header', required: true, schema: text });
const streamed = (itemSchema: Json): Json => ({
  ...answers({ 'application/jsonl': { itemSchema } }),
  openapi: '3.2.0',
});
const copies = (operation?: Json): Json => ({
  ...document({ paths: { '/a': { additionalOperations: operation ? { COPY: operation } : {} } } }),
  openapi: '3.2.0',
});
const [left, right] = [object({ a: text }), object({ b: text })];

const breakingRows: Row[] = [
  [
    'composed',
    'a value is not taken',
    asks(within(base)),
    asks(within(object({ kind: { ...text, enum: ['a'] }, n: number }))),
  ],
  [
    'composed',
    'the base in second place',
    asks({ allOf: [described, object({ n: number })] }),
    asks({ allOf: [described, object({ n: text })] }),
  ],
  [
    'composed',
    'a limit of the first',
    asks({ allOf: [{ ...text, maxLength: 9 }, { maxLength: 20 }] }),
    asks({ allOf: [{ ...text, maxLength: 5 }, { maxLength: 20 }] }),
  ],
  [
    'composed',
    'a pattern of the first',
    asks({ allOf: [{ ...text, pattern: 'a' }, { pattern: 'b' }] }),
    asks({ allOf: [{ ...text, pattern: 'c' }, { pattern: 'b' }] }),
  ],
  [
    'composed',
    'beside a reference, what it leads to',
    gives(...beside({}, described)),
    gives(
      { ...ref('A'), ...described },
      { schemas: { A: object({ kind: text, n: number }, { required: ['kind'] }) } },
    ),
  ],
  [
    'composed',
    'one place of two that lead to the same',
    asks(object({ a: ref('T'), b: ref('T') }), { schemas: { T: text } }),
    asks(object({ a: ref('T'), b: { ...ref('T'), maxLength: 5 } }), { schemas: { T: text } }),
  ],
  [
    'streams',
    'nothing is said of an element any more',
    streamed(text),
    { ...answers({ 'application/jsonl': {} }), openapi: '3.2.0' },
  ],
  [
    'media types',
    'another parameter',
    media('application/json;version=1'),
    media('application/json;version=2'),
  ],
  [
    'overlaps',
    'numbers',
    asks({ anyOf: [number, { type: 'number' }] }),
    asks({ oneOf: [number, { type: 'number' }] }),
  ],
  [
    'parameters',
    'commas of Swagger 2.0 become several',
    oldApi({ parameters: [{ name: 'q', in: 'query', ...list }] }),
    takes(query({ schema: list })),
  ],
  [
    'parameters',
    'one value becomes several of another type',
    takes(query()),
    takes(query({ schema: { type: 'array', items: number } })),
  ],
  [
    'parameters',
    'one value becomes a list between commas',
    takes(query()),
    takes(query({ explode: false, schema: list })),
  ],
  [
    'parameters',
    'one value becomes two at least',
    takes(query()),
    takes(query({ schema: { ...list, minItems: 2 } })),
  ],
  [
    'parameters',
    'one in a path is written with a dot',
    takes({ ...query(), in: 'path', required: true }),
    takes({ ...query(), in: 'path', required: true, style: 'label' }),
  ],
  ['parameters', 'one in a header is gone', takes({ ...query(), in: 'header' }), api({})],
  ['servers', 'another address', listed('https://a.example/v1'), listed('https://b.example/v1')],
  [
    'servers',
    'of Swagger 2.0 another path',
    oldApi({}, { host: 'a.example', basePath: '/v1' }),
    oldApi({}, { host: 'a.example', basePath: '/v2' }),
  ],
  ['operations', 'one of another method is gone', copies({ responses: {} }), copies()],
  ['streams', 'an element is of another type', streamed(text), streamed(number)],
  [
    'names',
    'a value of a mapping',
    gives(pets(['Cat'], { mapping: { cat: '#/components/schemas/Cat' } }), { schemas: kinds }),
    gives(pets(['Cat'], { mapping: { kitty: '#/components/schemas/Cat' } }), { schemas: kinds }),
  ],
  [
    'names',
    'of a schema, without a mapping',
    asks(pets(['Cat', 'Dog']), { schemas: kinds }),
    asks(pets(['Kitty', 'Dog']), { schemas: kinds }),
  ],
  [
    'names',
    'behind an anchor',
    anchored(object({ a: text }), '#a'),
    anchored(object({ a: number }), '#a'),
  ],
  [
    'names',
    'behind an id',
    anchored(object({ a: text }), 'https://a.example/a'),
    anchored(object({ a: number }), 'https://a.example/a'),
  ],
];

const harmlessRows: Row[] = [
  ['composed', 'described again', asks(base), asks({ allOf: [base, described] })],
  [
    'composed',
    'what both say',
    asks({ allOf: [{ ...text, maxLength: 9 }] }),
    asks({ allOf: [{ ...text, maxLength: 9 }, { maxLength: 20 }] }),
  ],
  [
    'composed',
    'integer within number',
    gives({ allOf: [{ type: 'number' }, number] }),
    gives(number),
  ],
  [
    'media types',
    'any of a response becomes one',
    media('application/*'),
    media('application/json'),
  ],
  [
    'overlaps',
    'apart by a value',
    asks({
      anyOf: [
        object({ k: { const: 'a' } }, { required: ['k'] }),
        object({ k: { const: 'b' } }, { required: ['k'] }),
      ],
    }),
    asks({
      oneOf: [
        object({ k: { const: 'a' } }, { required: ['k'] }),
        object({ k: { const: 'b' } }, { required: ['k'] }),
      ],
    }),
  ],
  ['overlaps', 'they were before', asks({ oneOf: [left, right] }), asks({ oneOf: [right, left] })],
  [
    'security',
    'a header in other letters',
    secureBy({ type: 'apiKey', in: 'header', name: 'X-Key' }),
    secureBy({ type: 'apiKey', in: 'header', name: 'x-key' }),
  ],
  ['parameters', 'a number becomes text', takes(query({ schema: number })), takes(query())],
  [
    'parameters',
    'one value becomes several',
    takes(query({ schema: number })),
    takes(query({ schema: { type: 'array', items: text } })),
  ],
  ['parameters', 'credentials in a header', api({}), header('Authorization')],
  [
    'responses',
    'all of success becomes one',
    api({ responses: { '2XX': { content: json(text) } } }),
    api({ responses: { 200: { content: json(text) } } }),
  ],
  [
    'servers',
    'one more',
    listed('https://a.example'),
    listed('https://b.example', 'https://a.example/'),
  ],
  [
    'versions',
    'a body of bytes in the words of 3.1',
    {
      ...answers({ 'application/octet-stream': { schema: { ...text, format: 'binary' } } }),
      openapi: '3.0.3',
    },
    answers({ 'application/octet-stream': {} }),
  ],
  [
    'versions',
    'commas of Swagger 2.0 stay commas',
    oldApi({ parameters: [{ name: 'q', in: 'query', ...list }] }),
    takes(query({ schema: list, explode: false })),
  ],
  [
    'versions',
    'in a path of Swagger 2.0',
    oldApi({ parameters: [{ name: 'id', in: 'path', required: true, type: 'string' }] }),
    takes({ name: 'id', in: 'path', required: true, schema: text }),
  ],
  [
    'versions',
    'a list in a path of Swagger 2.0',
    oldApi({ parameters: [{ name: 'id', in: 'path', required: true, ...list }] }),
    takes({ name: 'id', in: 'path', required: true, style: 'simple', schema: list }),
  ],
  [
    'versions',
    'several of Swagger 2.0 stay several',
    oldApi({ parameters: [{ name: 'q', in: 'query', ...list, collectionFormat: 'multi' }] }),
    takes(query({ schema: list })),
  ],
  [
    'versions',
    'a form of Swagger 2.0 becomes a body',
    oldApi({
      parameters: [{ name: 'f', in: 'formData', type: 'string', required: true }],
      consumes: ['application/x-www-form-urlencoded'],
    }),
    api({
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: object({ f: text }, { required: ['f'] }) },
        },
      },
    }),
  ],
  [
    'versions',
    'a file of Swagger 2.0 becomes a part',
    oldApi({
      parameters: [{ name: 'f', in: 'formData', type: 'file' }],
      consumes: ['multipart/form-data'],
    }),
    api({
      requestBody: {
        content: {
          'multipart/form-data': { schema: object({ f: { ...text, format: 'binary' } }) },
        },
      },
    }),
  ],
  [
    'versions',
    'credentials of Swagger 2.0 in the words of 3',
    oldApi({ security: [{ b: [] }] }, { securityDefinitions: { b: { type: 'basic' } } }),
    api({ security: [{ b: [] }] }, { securitySchemes: { b: { type: 'http', scheme: 'basic' } } }),
  ],
];

/** Neither breaking nor compatible. */
const openRows: Row[] = [
  [
    'words',
    'of what a text holds',
    gives({ ...text, contentSchema: { type: 'object' } }),
    gives({ ...text, contentSchema: { type: 'array' } }),
  ],
  ['words', 'of other references', gives({ $dynamicRef: '#a' }), gives({ $dynamicRef: '#b' })],
  [
    'overlaps',
    'perhaps',
    asks({
      anyOf: [
        { ...text, pattern: 'a' },
        { ...text, pattern: 'b' },
      ],
    }),
    asks({
      oneOf: [
        { ...text, pattern: 'a' },
        { ...text, pattern: 'b' },
      ],
    }),
  ],
  [
    'composed',
    'several lists of alternatives',
    asks({ allOf: [{ oneOf: [text, number] }, { anyOf: [text, { type: 'boolean' }] }] }),
    asks({ oneOf: [text, number] }),
  ],
  [
    'composed',
    'beside a reference of 3.0',
    { ...asks(ref('A'), { schemas: { A: text } }), openapi: '3.0.3' },
    { ...asks({ ...ref('A'), maxLength: 5 }, { schemas: { A: text } }), openapi: '3.0.3' },
  ],
];

function secureBy(scheme: Json): Json {
  return api({ security: [{ s: [] }] }, { securitySchemes: { s: scheme } });
}

export const composed = { breaking: breakingRows, harmless: harmlessRows, open: openRows };
