import {
  answers,
  api,
  asks,
  both,
  document,
  gives,
  heads,
  json,
  limited,
  login,
  number,
  object,
  oldApi,
  oldApi3,
  query,
  ref,
  type Row,
  secured,
  takes,
  text,
  toCase,
  tree,
} from './documents.ts';
import { composed } from './composed-breaks.ts';
import { judged } from './judged-breaks.ts';
import { variants } from './variant-breaks.ts';

/**
 * Kinds of changes of an OpenAPI document, each as its smallest example, and whether a client that was written for
 * the first document is hurt by the second. The kinds are of the sort that public checkers of such
 * documents list (oasdiff, Optic, openapi-diff); the examples were written here.
 */
const breakingRows: Row[] = [
  [
    'operations',
    'a path is gone',
    document({ paths: { '/a': {}, '/b': {} } }),
    document({ paths: { '/a': {} } }),
  ],
  [
    'operations',
    'an operation is gone',
    document({ paths: { '/a': { get: {}, put: {} } } }),
    document({ paths: { '/a': { get: {} } } }),
  ],
  [
    'parameters',
    'the first parameters, one of them required',
    api({}),
    takes(query({ required: true })),
  ],
  [
    'parameters',
    'a further one is required',
    takes(query()),
    takes(query(), { name: 'r', in: 'query', required: true, schema: text }),
  ],
  ['parameters', 'one is required now', takes(query()), takes(query({ required: true }))],
  [
    'parameters',
    'a shared one is required now',
    api({ parameters: [ref('Q', 'parameters')] }, { parameters: { Q: query() } }),
    api({ parameters: [ref('Q', 'parameters')] }, { parameters: { Q: query({ required: true }) } }),
  ],
  [
    'parameters',
    'one of all operations of a path is required',
    api({}),
    document({
      paths: {
        '/a': { parameters: [{ ...query(), required: true }], post: { responses: { 204: {} } } },
      },
    }),
  ],
  [
    'parameters',
    'lists are written in another way',
    takes(query({ schema: { type: 'array', items: text } })),
    takes(query({ explode: false, schema: { type: 'array', items: text } })),
  ],
  [
    'limits',
    'a lower maximum',
    limited({ type: 'integer', maximum: 500 }),
    limited({ type: 'integer', maximum: 200 }),
  ],
  [
    'limits',
    'the first minimum',
    limited({ type: 'integer' }),
    limited({ type: 'integer', minimum: 1 }),
  ],
  [
    'limits',
    'a shorter text',
    asks(object({ a: { type: 'string', maxLength: 50 } })),
    asks(object({ a: { type: 'string', maxLength: 20 } })),
  ],
  [
    'limits',
    'fewer elements',
    asks({ type: 'array', items: text }),
    asks({ type: 'array', items: text, maxItems: 10 }),
  ],
  [
    'limits',
    'a response has longer texts',
    gives(object({ a: { type: 'string', maxLength: 20 } })),
    gives(object({ a: { type: 'string', maxLength: 50 } })),
  ],
  ['forms', 'the first pattern', limited(text), limited({ ...text, pattern: '^[a-z]+$' })],
  [
    'forms',
    'another pattern',
    asks(object({ a: { ...text, pattern: '^[a-z0-9]+$' } })),
    asks(object({ a: { ...text, pattern: '^[a-z]+$' } })),
  ],
  ['forms', 'the first format', limited(text), limited({ ...text, format: 'uuid' })],
  [
    'forms',
    'a response in another format',
    gives({ ...text, format: 'date' }),
    gives({ ...text, format: 'date-time' }),
  ],
  ['request body', 'the first one, required', api({}), asks(object(both))],
  ['request body', 'it is required now', api({ requestBody: { content: json(text) } }), asks(text)],
  [
    'request body',
    'a shared one is required now',
    api(
      { requestBody: ref('B', 'requestBodies') },
      { requestBodies: { B: { content: json(text) } } },
    ),
    api(
      { requestBody: ref('B', 'requestBodies') },
      { requestBodies: { B: { required: true, content: json(text) } } },
    ),
  ],
  [
    'request body',
    'a media type is not taken any more',
    api({ requestBody: { content: { ...json(text), 'text/csv': {} } } }),
    api({ requestBody: { content: json(text) } }),
  ],
  ['required', 'the first required', asks(object(both)), asks(object(both, { required: ['a'] }))],
  [
    'required',
    'a further one',
    asks(object(both, { required: ['a'] })),
    asks(object(both, { required: ['a', 'b'] })),
  ],
  [
    'required',
    'a new property that is required, behind a reference',
    asks(ref('A'), { schemas: { A: object({ a: text }) } }),
    asks(ref('A'), { schemas: { A: object(both, { required: ['b'] }) } }),
  ],
  [
    'required',
    'a property of a response can be missing',
    gives(object(both, { required: ['a', 'b'] })),
    gives(object(both, { required: ['a'] })),
  ],
  [
    'required',
    'within an allOf',
    asks({ allOf: [object({ a: text }), object({ b: text })] }),
    asks({ allOf: [object({ a: text }), object({ b: text }, { required: ['b'] })] }),
  ],
  [
    'properties',
    'a property of a response is gone',
    gives(object(both)),
    gives(object({ a: text })),
  ],
  [
    'properties',
    'a property of the elements of a list is gone',
    gives({ type: 'array', items: object(both) }),
    gives({ type: 'array', items: object({ a: text }) }),
  ],
  [
    'properties',
    'no others any more',
    asks(object({ a: text })),
    asks(object({ a: text }, { additionalProperties: false })),
  ],
  ['types', 'another type in a request', asks(object({ a: text })), asks(object({ a: number }))],
  ['types', 'another type in a response', gives(object({ a: number })), gives(object({ a: text }))],
  [
    'types',
    'null can come',
    gives(object({ a: text })),
    gives(object({ a: { type: ['string', 'null'] } })),
  ],
  [
    'types',
    'null is not taken any more',
    oldApi3(object({ a: { ...text, nullable: true } })),
    oldApi3(object({ a: text })),
  ],
  [
    'values',
    'the first enum',
    asks(object({ a: text })),
    asks(object({ a: { ...text, enum: ['x', 'y'] } })),
  ],
  [
    'values',
    'a value is not taken any more',
    limited({ ...text, enum: ['x', 'y'] }),
    limited({ ...text, enum: ['x'] }),
  ],
  [
    'values',
    'a value can come',
    gives(object({ a: { enum: ['x'] } })),
    gives(object({ a: { enum: ['x', 'y'] } })),
  ],
  [
    'variants',
    'one of a request is gone',
    asks({ oneOf: [text, number] }),
    asks({ oneOf: [text] }),
  ],
  [
    'variants',
    'a response can be another one',
    gives({ oneOf: [object({ a: text })] }),
    gives({ oneOf: [object({ a: text }), object({ b: number })] }),
  ],
  [
    'responses',
    'the response of success is gone',
    api({ responses: { 200: {}, 204: {} } }),
    api({ responses: { 204: {} } }),
  ],
  [
    'responses',
    'a media type is gone',
    answers({ ...json(text), 'text/csv': {} }),
    answers(json(text)),
  ],
  [
    'responses',
    'a header is gone',
    heads({ 'X-A': { schema: text }, ETag: {} }),
    heads({ 'X-A': { schema: text } }),
  ],
  [
    'security',
    'credentials are needed',
    api({}, { securitySchemes: login }),
    secured({ login: [] }),
  ],
  [
    'security',
    'a further scope',
    secured({ login: ['read'] }),
    secured({ login: ['read', 'write'] }),
  ],
];

const harmlessRows: Row[] = [
  [
    'operations',
    'a path and an operation more',
    document({ paths: { '/a': { get: {} } } }),
    document({ paths: { '/a': { get: {}, put: {} }, '/b': { get: {} } } }),
  ],
  [
    'operations',
    'other words',
    api({ summary: 'a', tags: ['x'] }),
    api({ summary: 'b', description: 'c', tags: ['y'], deprecated: true }),
  ],
  [
    'operations',
    'another name in a path',
    document({
      paths: {
        '/a/{x}': {
          get: { parameters: [{ name: 'x', in: 'path', required: true, schema: text }] },
        },
      },
    }),
    document({
      paths: {
        '/a/{y}': {
          get: { parameters: [{ name: 'y', in: 'path', required: true, schema: text }] },
        },
      },
    }),
  ],
  ['parameters', 'a parameter more', api({}), takes(query())],
  [
    'parameters',
    'one can be left out now',
    takes(query({ required: true })),
    takes(query({ required: false })),
  ],
  [
    'parameters',
    'another order',
    takes(query(), { name: 'r', in: 'query' }),
    takes({ name: 'r', in: 'query' }, query()),
  ],
  [
    'parameters',
    'from the operation to a definition',
    takes(query()),
    api({ parameters: [ref('Q', 'parameters')] }, { parameters: { Q: query() } }),
  ],
  [
    'parameters',
    'what holds anyway is written down',
    takes(query()),
    takes(query({ required: false, style: 'form', explode: true, allowReserved: false })),
  ],
  [
    'limits',
    'a request can be longer',
    asks(object({ a: { ...text, maxLength: 20 } })),
    asks(object({ a: { ...text, maxLength: 50 } })),
  ],
  [
    'limits',
    'a response is shorter',
    gives(object({ a: { ...text, maxLength: 50 } })),
    gives(object({ a: { ...text, maxLength: 20 } })),
  ],
  [
    'limits',
    'what holds anyway is written down',
    asks({ type: 'array', items: text }),
    asks({ type: 'array', items: text, minItems: 0, uniqueItems: false }),
  ],
  ['forms', 'a pattern less', limited({ ...text, pattern: 'a' }), limited(text)],
  ['forms', 'a response says its format', gives(text), gives({ ...text, format: 'date-time' })],
  ['request body', 'an optional one', api({}), api({ requestBody: { content: json(text) } })],
  [
    'request body',
    'a media type more',
    asks(text),
    api({ requestBody: { required: true, content: { ...json(text), 'text/csv': {} } } }),
  ],
  [
    'required',
    'one less in a request',
    asks(object(both, { required: ['a', 'b'] })),
    asks(object(both, { required: ['a'] })),
  ],
  [
    'required',
    'one more in a response',
    gives(object(both)),
    gives(object(both, { required: ['a'] })),
  ],
  ['properties', 'an optional one more, both ways', asks(object({ a: text })), asks(object(both))],
  [
    'properties',
    'a response has one more',
    gives(object({ a: text }, { required: ['a'] })),
    gives(object(both, { required: ['a', 'b'] })),
  ],
  [
    'properties',
    'another order',
    gives(object({ a: text, b: number })),
    gives(object({ b: number, a: text })),
  ],
  [
    'properties',
    'a definition has another name',
    gives(ref('A'), { schemas: { A: object(both) } }),
    gives(ref('B'), { schemas: { B: object(both) } }),
  ],
  [
    'properties',
    'from an allOf to one',
    gives({ allOf: [object({ a: text }), object({ b: text }, { required: ['b'] })] }),
    gives(object(both, { required: ['b'] })),
  ],
  [
    'types',
    'null is taken, too',
    asks(object({ a: text })),
    asks(object({ a: { anyOf: [text, { type: 'null' }] } })),
  ],
  [
    'values',
    'a request can have one more',
    limited({ enum: ['x'] }),
    limited({ enum: ['y', 'x'] }),
  ],
  [
    'variants',
    'a request can be another one',
    asks(object({ a: text })),
    asks({ oneOf: [object({ a: text }), number] }),
  ],
  [
    'responses',
    'an error more, another less',
    api({ responses: { 200: {}, 404: {} } }),
    api({ responses: { 200: {}, 429: {} } }),
  ],
  [
    'responses',
    'a header and a media type more',
    answers(json(text)),
    api({
      responses: { 200: { content: { ...json(text), 'text/csv': {} }, headers: { ETag: {} } } },
    }),
  ],
  [
    'security',
    'another way to come in',
    secured({ login: ['read'] }),
    secured({ login: ['read'] }, { key: [] }),
  ],
];

/** Cases beside the list above: other versions, cycles, what seems to be one thing and is another. */
const furtherBreaking: Row[] = [
  [
    'required',
    'in a cycle',
    asks(ref('Tree'), { schemas: tree({}) }),
    asks(ref('Tree'), { schemas: tree({ required: ['a'] }) }),
  ],
  [
    'forms',
    'other steps',
    limited({ type: 'integer', multipleOf: 5 }),
    limited({ type: 'integer', multipleOf: 10 }),
  ],
  [
    'limits',
    'exclusive, as of old',
    oldApi3({ type: 'number', minimum: 0 }),
    oldApi3({ type: 'number', minimum: 0, exclusiveMinimum: true }),
  ],
  [
    'request body',
    'of Swagger 2.0 a media type less',
    oldApi(
      { parameters: [{ in: 'body', name: 'b', schema: text }] },
      { consumes: ['application/json', 'text/csv'] },
    ),
    oldApi({ parameters: [{ in: 'body', name: 'b', schema: text }] }, { consumes: ['text/csv'] }),
  ],
  [
    'properties',
    'of Swagger 2.0 a response without',
    oldApi({ responses: { 200: { schema: object(both) } } }),
    oldApi({ responses: { 200: { schema: object({ a: text }) } } }),
  ],
  [
    'responses',
    'a header of another type',
    heads({ 'X-A': { schema: number } }),
    heads({ 'x-a': { schema: text } }),
  ],
  [
    'variants',
    'one of them narrower',
    asks({ oneOf: [object({ a: text }, { required: ['a'] }), number] }),
    asks({ oneOf: [object(both, { required: ['a', 'b'] }), number] }),
  ],
  [
    'security',
    'another scheme under the name',
    api({ security: [{ login: [] }] }, { securitySchemes: login }),
    api(
      { security: [{ login: [] }] },
      { securitySchemes: { login: { type: 'http', scheme: 'basic' } } },
    ),
  ],
];

const furtherHarmless: Row[] = [
  [
    'required',
    'in a cycle that begins elsewhere',
    gives(ref('Tree'), { schemas: tree({ required: ['a'] }) }),
    gives(object({ a: text, next: ref('Tree') }, { required: ['a'] }), {
      schemas: tree({ required: ['a'] }),
    }),
  ],
  [
    'required',
    'of what no client sends',
    asks(object({ a: { ...text, readOnly: true } })),
    asks(object({ a: { ...text, readOnly: true } }, { required: ['a'] })),
  ],
  [
    'responses',
    'for all of success',
    api({ responses: { 200: { content: json(text) } } }),
    api({ responses: { '2XX': { content: json(text) } } }),
  ],
  [
    'variants',
    'another order, one behind a reference',
    gives({ oneOf: [object({ a: text }), number] }),
    gives({ oneOf: [number, ref('A')] }, { schemas: { A: object({ a: text }) } }),
  ],
  [
    'operations',
    'OpenAPI 3.1 after Swagger 2.0',
    oldApi({
      parameters: [query({ type: 'string', schema: undefined })],
      responses: { 200: { schema: text } },
    }),
    api({ parameters: [query()], responses: { 200: { content: json(text) } } }),
  ],
];

export const breaking = breakingRows.map(toCase);
export const harmless = harmlessRows.map(toCase);
export const further = {
  breaking: [
    ...furtherBreaking,
    ...judged.breaking,
    ...composed.breaking,
    ...variants.breaking,
  ].map(toCase),
  harmless: [
    ...furtherHarmless,
    ...judged.harmless,
    ...composed.harmless,
    ...variants.harmless,
  ].map(toCase),
  open: composed.open.map(toCase),
};
