/** The smallest documents that hold one thing each. */
export type Json = Record<string, unknown>;
export type Case = { rule: string; what: string; before: Json; after: Json };

export const json = (schema: unknown) => ({ 'application/json': { schema } });
export const document = (facts: Json): Json => ({
  openapi: '3.1.0',
  info: { title: 'a', version: '1' },
  ...facts,
});
/** One operation, with definitions. */
export const api = (operation: Json, components: Json = {}): Json =>
  document({ paths: { '/a': { post: { responses: { 204: {} }, ...operation } } }, components });
export const asks = (schema: unknown, components: Json = {}): Json =>
  api({ requestBody: { required: true, content: json(schema) } }, components);
export const gives = (schema: unknown, components: Json = {}): Json =>
  api({ responses: { 200: { content: json(schema) } } }, components);
export const takes = (...parameters: unknown[]): Json => api({ parameters });
export const query = (facts: Json = {}) => ({
  name: 'q',
  in: 'query',
  schema: { type: 'string' },
  ...facts,
});
export const limited = (schema: Json) => takes(query({ schema }));
export const object = (properties: Json, facts: Json = {}) => ({
  type: 'object',
  properties,
  ...facts,
});
export const ref = (name: string, kind = 'schemas') => ({ $ref: `#/components/${kind}/${name}` });
export const [text, number] = [{ type: 'string' }, { type: 'integer' }];
export const both = { a: text, b: text };
export const heads = (headers: Json): Json => api({ responses: { 200: { headers } } });
export const answers = (content: Json): Json => api({ responses: { 200: { content } } });
export const login = {
  login: { type: 'http', scheme: 'bearer' },
  key: { type: 'apiKey', in: 'header', name: 'k' },
};
export const secured = (...security: Json[]): Json => api({ security }, { securitySchemes: login });
export const oldApi = (operation: Json, facts: Json = {}): Json => ({
  swagger: '2.0',
  info: { title: 'a', version: '1' },
  ...facts,
  paths: { '/a': { post: { responses: { 204: {} }, ...operation } } },
});
export const oldApi3 = (schema: Json): Json => ({ ...asks(schema), openapi: '3.0.3' });
export const tree = (facts: Json) => ({ Tree: object({ a: text, next: ref('Tree') }, facts) });

export type Row = readonly [rule: string, what: string, before: Json, after: Json];

export const toCase = ([rule, what, before, after]: Row): Case => ({ rule, what, before, after });

/** One schema before and after. */
export type SchemaRow = readonly [
  rule: string,
  what: string,
  make: (schema: Json) => Json,
  before: unknown,
  after: unknown,
];
export const whole = ([rule, what, make, before, after]: SchemaRow): Row => [
  rule,
  what,
  make(before as Json),
  make(after as Json),
];
