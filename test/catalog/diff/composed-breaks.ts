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
  oldApi3,
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
    'a value of the base, described again',
    gives(within(object({ kind: { enum: ['a'] } }))),
    gives(within(base)),
  ],
  [
    'composed',
    'a value is not taken',
    asks(within(base)),
    asks(within(object({ kind: { ...text, enum: ['a'] }, n: number }))),
  ],
  [
    'composed',
    'another type below',
    asks(within(base)),
    asks(within(object({ kind: text, n: text }))),
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
    'items of the first',
    asks({ allOf: [{ type: 'array', items: number }, { items: { description: 'x' } }] }),
    asks({ allOf: [{ type: 'array', items: text }, { items: { description: 'x' } }] }),
  ],
  [
    'composed',
    'others are refused',
    asks(within(object({ kind: text }))),
    asks(within(object({ kind: text }, { additionalProperties: false }))),
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
    'a limit beside a reference',
    asks(...beside({ T: text })),
    asks(...beside({ T: text }, { required: ['n'] })),
  ],
  [
    'composed',
    'one place of two that lead to the same',
    asks(object({ a: ref('T'), b: ref('T') }), { schemas: { T: text } }),
    asks(object({ a: ref('T'), b: { ...ref('T'), maxLength: 5 } }), { schemas: { T: text } }),
  ],
  [
    'composed',
    'of two that have to be contained the second',
    asks({ allOf: [{ contains: text }, { contains: number }] }),
    asks({ allOf: [{ contains: text }, { contains: { type: 'boolean' } }] }),
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
    'media types',
    'one of two',
    media('application/json;version=1', 'application/json;version=2'),
    media('application/json;version=2'),
  ],
  ['overlaps', 'any becomes one', asks({ anyOf: [left, right] }), asks({ oneOf: [left, right] })],
  [
    'overlaps',
    'an object becomes one of two',
    asks(left),
    asks({ oneOf: [left, object({ a: text, c: number })] }),
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
  ['parameters', 'one of the query is gone', takes(query()), api({})],
  ['parameters', 'one in a header is gone', takes({ ...query(), in: 'header' }), api({})],
  ['parameters', 'from the query to a header', takes(query()), takes({ ...query(), in: 'header' })],
  ['parameters', 'text becomes a number', takes(query()), takes(query({ schema: number }))],
  ['servers', 'another address', listed('https://a.example/v1'), listed('https://b.example/v1')],
  ['servers', 'another path', listed('https://a.example/v1'), listed('https://a.example/v2')],
  [
    'servers',
    'of Swagger 2.0 another path',
    oldApi({}, { host: 'a.example', basePath: '/v1' }),
    oldApi({}, { host: 'a.example', basePath: '/v2' }),
  ],
  ['operations', 'one of another method is gone', copies({ responses: {} }), copies()],
  [
    'operations',
    'one of another method asks for more',
    copies({ responses: {} }),
    copies({ parameters: [query({ required: true })], responses: {} }),
  ],
  [
    'streams',
    'an element has less',
    streamed(object({ a: text, b: text })),
    streamed(object({ a: text })),
  ],
  ['streams', 'an element is of another type', streamed(text), streamed(number)],
  [
    'names',
    'a value of a mapping',
    gives(pets(['Cat'], { mapping: { cat: '#/components/schemas/Cat' } }), { schemas: kinds }),
    gives(pets(['Cat'], { mapping: { kitty: '#/components/schemas/Cat' } }), { schemas: kinds }),
  ],
  [
    'names',
    'a value of a mapping that is sent',
    asks(pets(['Cat', 'Dog'], { mapping: { cat: 'Cat', dog: 'Dog' } }), { schemas: kinds }),
    asks(pets(['Cat', 'Dog'], { mapping: { kitty: 'Cat', dog: 'Dog' } }), { schemas: kinds }),
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
  [
    'names',
    'below an id',
    anchored(object({ a: text }), 'https://a.example/a#/properties/a'),
    anchored(object({ a: number }), 'https://a.example/a#/properties/a'),
  ],
];

const harmlessRows: Row[] = [
  ['composed', 'described again', asks(base), asks({ allOf: [base, described] })],
  ['composed', 'described again, given', gives(base), gives({ allOf: [base, described] })],
  [
    'composed',
    'what both say',
    asks({ allOf: [{ ...text, maxLength: 9 }] }),
    asks({ allOf: [{ ...text, maxLength: 9 }, { maxLength: 20 }] }),
  ],
  [
    'composed',
    'a value less, given',
    gives(within(base)),
    gives({ allOf: [base, object({ kind: { enum: ['a'] } })] }),
  ],
  [
    'composed',
    'integer within number',
    gives({ allOf: [{ type: 'number' }, number] }),
    gives(number),
  ],
  [
    'hidden',
    'read-only behind a reference',
    asks(object({ a: ref('Id') }), { schemas: { Id: { ...text, readOnly: true } } }),
    asks(object({ a: ref('Id') }, { required: ['a'] }), {
      schemas: { Id: { ...text, readOnly: true } },
    }),
  ],
  [
    'hidden',
    'read-only in an allOf',
    asks(object({ a: { allOf: [text, { readOnly: true }] } })),
    asks(object({})),
  ],
  [
    'media types',
    'the usual characters',
    media('application/json'),
    media('Application/JSON; charset=UTF-8'),
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
  ['overlaps', 'apart by type', asks({ anyOf: [text, number] }), asks({ oneOf: [text, number] })],
  ['overlaps', 'they were before', asks({ oneOf: [left, right] }), asks({ oneOf: [right, left] })],
  [
    'security',
    'a scheme in other letters',
    secureBy({ type: 'http', scheme: 'Bearer' }),
    secureBy({ type: 'http', scheme: 'bearer' }),
  ],
  [
    'security',
    'a header in other letters',
    secureBy({ type: 'apiKey', in: 'header', name: 'X-Key' }),
    secureBy({ type: 'apiKey', in: 'header', name: 'x-key' }),
  ],
  [
    'parameters',
    'how lists are written, of a text',
    takes(query({ explode: true })),
    takes(query({ explode: false })),
  ],
  ['parameters', 'a number becomes text', takes(query({ schema: number })), takes(query())],
  ['parameters', 'credentials in a header', api({}), header('Authorization')],
  ['parameters', 'credentials no more in a header', header('authorization'), api({})],
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
    'servers',
    'of Swagger 2.0 in the words of 3',
    oldApi({}, { schemes: ['https'], host: 'a.example', basePath: '/v1' }),
    document({
      servers: [{ url: 'https://a.example/v1' }],
      paths: { '/a': { post: { responses: { 204: {} } } } },
    }),
  ],
  [
    'versions',
    'null beside a reference of 3.0',
    { ...gives(ref('A'), { schemas: { A: text } }), openapi: '3.0.3' },
    { ...gives({ ...ref('A'), nullable: true }, { schemas: { A: text } }), openapi: '3.0.3' },
  ],
  [
    'versions',
    'bytes in the words of 3.1',
    oldApi3({ ...text, format: 'byte' }),
    asks({ ...text, contentEncoding: 'base64' }),
  ],
  [
    'versions',
    'a file in the words of 3.1',
    oldApi3(object({ f: { ...text, format: 'binary' } })),
    asks(object({ f: { contentMediaType: 'application/octet-stream' } })),
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
    'words',
    'of before 2019',
    asks({ type: 'object' }),
    asks({ type: 'object', dependencies: { a: ['b'] } }),
  ],
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
