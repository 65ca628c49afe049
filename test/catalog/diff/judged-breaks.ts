import {
  api,
  asks,
  document,
  gives,
  heads,
  json,
  type Json,
  login,
  number,
  object,
  query,
  ref,
  type Row,
  type SchemaRow,
  secured,
  takes,
  text,
  whole,
} from './documents.ts';

const old = (schema: unknown): Json => ({ ...asks(schema), openapi: '3.0.3' });
const list = (items: unknown, facts: Json = {}) => ({ type: 'array', items, ...facts });
const parameter = (schema: Json): Json => takes(query({ schema }));
const called = (schema: unknown): Json =>
  document({ webhooks: { w: { post: { requestBody: { content: json(schema) } } } } });
const answered = (schema: unknown): Json =>
  document({ webhooks: { w: { post: { responses: { 200: { content: json(schema) } } } } } });
const back = (schema: unknown): Json => {
  const post = { requestBody: { content: json(schema) }, responses: {} };
  return api({ callbacks: { c: { '{$request.body#/u}': { post } } } });
};
const media = (...types: string[]): Json => {
  const all = types.map((type) => [type, { schema: text }] as const);
  return api({ requestBody: { content: Object.fromEntries(all) } });
};
const either = object({ a: text }, { required: ['a'] });
const other = object({ b: number }, { required: ['b'] });
const [kinds, tuple] = [{ oneOf: [either, other] }, { type: 'array', prefixItems: [text, number] }];
const more = { a: text, b: text };

/**
 * A second list, written by somebody who had not seen the rules: what of it the first one does not hold. Most of it
 * is one schema before and after, sent (`asks`), received (`gives`), or as a parameter.
 */
const breakingSchemas: SchemaRow[] = [
  [
    'parts',
    'a closed tuple has fewer places',
    asks,
    { ...tuple, items: false },
    { type: 'array', prefixItems: [text], items: false },
  ],
  [
    'parts',
    'names have a form',
    asks,
    { type: 'object' },
    { type: 'object', propertyNames: { pattern: '^x' } },
  ],
  [
    'parts',
    'what some names hold',
    asks,
    { type: 'object' },
    { type: 'object', patternProperties: { '^x': number } },
  ],
  [
    'parts',
    'something has to be contained',
    asks,
    list(text),
    list(text, { contains: { const: 'a' } }),
  ],
  [
    'parts',
    'one asks for another',
    asks,
    object(more),
    object(more, { dependentSchemas: { a: { required: ['b'] } } }),
  ],
  [
    'parts',
    'others are text only',
    asks,
    { type: 'object' },
    { type: 'object', additionalProperties: text },
  ],
  [
    'parts',
    'no others, in the word of 3.1',
    asks,
    object(more),
    object(more, { unevaluatedProperties: false }),
  ],
  ['forms', 'something is excluded', asks, number, { ...number, not: { const: 0 } }],
  [
    'forms',
    'one name asks for another',
    asks,
    object(more),
    object(more, { dependentRequired: { a: ['b'] } }),
  ],
  [
    'forms',
    'alternatives are told apart by another name',
    asks,
    { ...kinds, discriminator: { propertyName: 'a' } },
    { ...kinds, discriminator: { propertyName: 'b' } },
  ],
  [
    'limits',
    'more have to be contained',
    asks,
    { contains: text, minContains: 1 },
    { contains: text, minContains: 2 },
  ],
  ['limits', 'no two alike', asks, list(text), list(text, { uniqueItems: true })],
  ['limits', 'a response can be empty', gives, list(text, { minItems: 1 }), list(text)],
  [
    'limits',
    'of the elements of a parameter',
    parameter,
    list(number),
    list({ ...number, maximum: 5 }),
  ],
  ['types', 'one of two', asks, { type: ['string', 'integer'] }, text],
  ['types', 'null as an alternative', gives, text, { anyOf: [text, { type: 'null' }] }],
  [
    'required',
    'one that was read-only',
    asks,
    object({ a: { ...text, readOnly: true } }, { required: ['a'] }),
    either,
  ],
  [
    'properties',
    'one of a closed request is gone',
    asks,
    object(more, { additionalProperties: false }),
    object({ a: text }, { additionalProperties: false }),
  ],
  ['webhooks', 'a client is sent less', called, either, object({})],
  ['webhooks', 'a client has to answer more', answered, object({ a: text }), either],
  ['webhooks', 'of a callback', back, object({ a: text }), object({ a: number })],
];
const breakingRows: Row[] = [
  ['request body', 'any media type becomes one', media('*/*'), media('application/json')],
  [
    'responses',
    'a header can be missing',
    heads({ A: { required: true, schema: text } }),
    heads({ A: { schema: text } }),
  ],
  [
    'responses',
    'of a shared one a property is gone',
    api(
      { responses: { 200: ref('R', 'responses') } },
      { responses: { R: { content: json(either) } } },
    ),
    api(
      { responses: { 200: ref('R', 'responses') } },
      { responses: { R: { content: json(object({})) } } },
    ),
  ],
  ['security', 'no longer as one likes', secured({}, { login: [] }), secured({ login: [] })],
  [
    'security',
    'an exception is gone',
    { ...api({ security: [] }, { securitySchemes: login }), security: [{ login: [] }] },
    { ...api({}, { securitySchemes: login }), security: [{ login: [] }] },
  ],
];

const harmlessSchemas: SchemaRow[] = [
  [
    'parts',
    'a response may have others',
    gives,
    object(more, { additionalProperties: false }),
    object(more),
  ],
  [
    'parts',
    'some names are taken, too',
    asks,
    object(more, { additionalProperties: false }),
    object(more, { additionalProperties: false, patternProperties: { '^x': text } }),
  ],
  ['forms', 'finer steps', asks, { ...number, multipleOf: 10 }, { ...number, multipleOf: 5 }],
  [
    'forms',
    'longer whole numbers',
    asks,
    { ...number, format: 'int32' },
    { ...number, format: 'int64' },
  ],
  [
    'forms',
    'how to tell alternatives apart',
    asks,
    kinds,
    { ...kinds, discriminator: { propertyName: 'a' } },
  ],
  [
    'values',
    'a list as alternatives',
    gives,
    { enum: ['a', 'b'] },
    { oneOf: [{ const: 'a' }, { const: 'b' }] },
  ],
  [
    'properties',
    'a write-only one is gone',
    gives,
    object({ a: { ...text, writeOnly: true } }),
    object({}),
  ],
  [
    'webhooks',
    'a client is sent more',
    called,
    object({ a: text }),
    object(more, { required: ['b'] }),
  ],
  [
    'limits',
    'as of old, lifted',
    old,
    { ...number, minimum: 0, exclusiveMinimum: true },
    { ...number, minimum: 0 },
  ],
];
const harmlessRows: Row[] = [
  [
    'parameters',
    'a header in other letters',
    takes({ name: 'X-Id', in: 'header', schema: text }),
    takes({ name: 'x-id', in: 'header', schema: text }),
  ],
];

export const judged = {
  breaking: [...breakingRows, ...breakingSchemas.map(whole)],
  harmless: [...harmlessRows, ...harmlessSchemas.map(whole)],
};
