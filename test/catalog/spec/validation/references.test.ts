import { describe, expect, test } from 'vitest';
import { findingsOf } from '#catalog/spec/validation/spec-check.ts';

type Json = Record<string, unknown>;

const nowhere = { $ref: '#/nowhere' };
const document = (facts: Json): Json => ({
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  paths: {},
  ...facts,
});
const operation = (facts: Json): Json => document({ paths: { '/a': { get: facts } } });
const schema = (A: unknown, more: Json = {}): Json =>
  document({ components: { schemas: { A, ...more } } });
const ok = { description: 'ok' };

async function brokenIn(spec: Json): Promise<string[]> {
  const findings = await findingsOf(JSON.stringify(spec));
  return findings
    .filter(({ code }) => code === 'unresolved-reference')
    .map(({ pointer }) => pointer.replace('#/spec', '').replace(/\/\$ref$/, ''));
}

describe('a reference that leads nowhere is found by where it stands, whatever it is called', () => {
  const named = 'default value example examples enum const x-a $ref properties'.split(' ');
  test.each(named)('a property called %s', async (name) => {
    expect(await brokenIn(schema({ properties: { [name]: nowhere } }))).toEqual([
      `/components/schemas/A/properties/${name}`,
    ]);
  });

  test.each(named.filter((name) => name !== '$ref'))('a schema called %s', async (name) => {
    expect(await brokenIn(document({ components: { schemas: { [name]: nowhere } } }))).toEqual([
      `/components/schemas/${name}`,
    ]);
  });

  const content = { 'application/json': { schema: nowhere } };
  test.each<[string, Json, string]>([
    [
      'responses.default',
      operation({ responses: { default: nowhere } }),
      '/paths/~1a/get/responses/default',
    ],
    [
      'below responses.default',
      operation({ responses: { default: { ...ok, content } } }),
      '/paths/~1a/get/responses/default/content/application~1json/schema',
    ],
    [
      'a header called example',
      operation({ responses: { 200: { ...ok, headers: { example: nowhere } } } }),
      '/paths/~1a/get/responses/200/headers/example',
    ],
    [
      'an example itself',
      document({ components: { examples: { value: nowhere } } }),
      '/components/examples/value',
    ],
    [
      'a link',
      operation({ responses: { 200: { ...ok, links: { default: nowhere } } } }),
      '/paths/~1a/get/responses/200/links/default',
    ],
    [
      'a callback called x-done',
      operation({ callbacks: { 'x-done': { '{$url}': { post: { requestBody: nowhere } } } } }),
      '/paths/~1a/get/callbacks/x-done/%7B$url%7D/post/requestBody',
    ],
    [
      'a webhook called x-a',
      document({ webhooks: { 'x-a': { post: { parameters: [nowhere] } } } }),
      '/webhooks/x-a/post/parameters/0',
    ],
    ['an anchor that is none', schema({ items: { $ref: '#none' } }), '/components/schemas/A/items'],
    [
      'what a schema with an id does not have',
      schema({ $id: 'https://a.example/a', items: { $ref: '#/components/schemas/A' } }),
      '/components/schemas/A/items',
    ],
    [
      'a response of Swagger 2.0 called default',
      {
        swagger: '2.0',
        info: { title: 'x', version: '1' },
        paths: { '/a': { get: { responses: { default: { ...ok, schema: nowhere } } } } },
      },
      '/paths/~1a/get/responses/default/schema',
    ],
    [
      'headers of a message of AsyncAPI',
      {
        asyncapi: '3.0.0',
        info: { title: 'x', version: '1' },
        components: { messages: { default: { headers: { properties: { default: nowhere } } } } },
      },
      '/components/messages/default/headers/properties/default',
    ],
  ])('%s', async (_what, spec, pointer) => {
    expect(await brokenIn(spec)).toEqual([pointer]);
  });

  test('one to itself, and one in a circle', async () => {
    const [self, a, b] = ['Self', 'A', 'B'].map((name) => ({
      $ref: `#/components/schemas/${name}`,
    }));
    const schemas = { Self: self, A: b, B: a, User: { items: a } };
    expect(await brokenIn(document({ components: { schemas } }))).toEqual(
      ['Self', 'A', 'B', 'User/items'].map((name) => `/components/schemas/${name}`),
    );
  });
});

describe('nothing is found where none stands', () => {
  const data = { value: nowhere };
  test.each<[string, Json]>([
    ['in what a schema has as data', schema({ default: nowhere, enum: [nowhere], const: nowhere })],
    ['in examples of a schema', schema({ example: nowhere, examples: [nowhere] })],
    [
      'in an example',
      operation({
        responses: {
          200: { ...ok, content: { a: { example: nowhere }, b: { examples: { data } } } },
        },
      }),
    ],
    ['in a shared example', document({ components: { examples: { data } } })],
    ['in an extension', operation({ 'x-a': nowhere, responses: { 200: ok, 'x-b': nowhere } })],
    [
      'in what a link sends',
      operation({
        responses: { 200: { ...ok, links: { a: { operationId: 'a', requestBody: nowhere } } } },
      }),
    ],
    ['in another document', schema({ items: { $ref: 'https://a.example/b.json#/c' } })],
    [
      'in a schema with an id of its own',
      schema({
        $id: 'https://a.example/a',
        properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } },
      }),
    ],
    [
      'in one whose id is below',
      schema({ items: { $id: 'b', $defs: { c: {} }, items: { $ref: '#/$defs/c' } } }),
    ],
    [
      'beside a property called $id',
      schema({ properties: { $id: { type: 'string' }, b: { $ref: '#/components/schemas/A' } } }),
    ],
    [
      'by an anchor',
      schema({
        $anchor: 'a',
        items: { $ref: '#a' },
        not: { $dynamicAnchor: 'b', items: { $ref: '#b' } },
      }),
    ],
    [
      'by a name in other letters',
      schema({
        properties: {
          'b/ c': {},
          d: { $ref: '#/components/schemas/A/properties/b%7E1%20c' },
        },
      }),
    ],
    ['in a cycle with a value between', schema({ items: { $ref: '#/components/schemas/A' } })],
    [
      'in an example of Swagger 2.0',
      {
        swagger: '2.0',
        info: { title: 'x', version: '1' },
        paths: {
          '/a': {
            get: { responses: { 200: { ...ok, examples: { 'application/json': nowhere } } } },
          },
        },
      },
    ],
  ])('%s', async (_where, spec) => {
    expect(await findingsOf(JSON.stringify(spec))).toEqual([]);
  });
});
