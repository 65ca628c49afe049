import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canBreak } from '#catalog/compatibility.ts';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';

type Json = Record<string, unknown>;

const text = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
const diff = (before: unknown, after: unknown) =>
  diffSpecs({ before: text(before), after: text(after) });
/** `impact path` of each change. */
const impacts = (before: unknown, after: unknown) =>
  diff(before, after).changes.map(({ impact, path }) => `${impact} ${path.replace('/spec', '')}`);

const api = (operation: Json, schemas: Json = {}): Json => ({
  openapi: '3.1.0',
  paths: { '/a': { get: operation } },
  components: { schemas },
});
const asks = (schema: Json) => api({ requestBody: { content: { json: { schema } } } });
const gives = (schema: Json) => api({ responses: { 200: { content: { json: { schema } } } } });
const judged = (before: Json, after: Json) =>
  impacts(before, after).map((one) => one.split(' ')[0]);

test.each<[Json | undefined, boolean]>([
  [{ openapi: '3.1.0' }, true],
  [{ info: { title: 'a' }, swagger: '2.0' }, true],
  [{ asyncapi: '3.0.0' }, false],
  [{ openapi: 3 }, false],
  [{ a: ['openapi', 'swagger'] }, false],
  [{}, false],
  [undefined, false],
])('whether a spec can break anything is told by its text: %j %s', (spec, expected) => {
  expect(canBreak(text(spec))).toBe(expected);
});

test('a change is told by its place, and by who sends what it changes', () => {
  const [wide, narrow] = [{ enum: ['a', 'b'] }, { enum: ['a'] }];
  const [asked, given] = ['/paths/~1a/get/requestBody', '/paths/~1a/get/responses/200'];
  const at = (place: string) => `${place}/content/json/schema/enum/b`;
  expect(impacts(asks(wide), asks(narrow))).toEqual([`breaking ${at(asked)}`]);
  expect(impacts(asks(narrow), asks(wide))).toEqual([`compatible ${at(asked)}`]);
  expect(impacts(gives(wide), gives(narrow))).toEqual([`compatible ${at(given)}`]);
  expect(impacts(gives(narrow), gives(wide))).toEqual([`breaking ${at(given)}`]);
});

test('a change of a shared schema counts where it is used, also through others', () => {
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schemas = (words: string[]) => ({
    Lead: { properties: { kind: reference('Kind') } },
    Kind: { enum: words },
  });
  const asking = { requestBody: { content: { json: { schema: reference('Lead') } } } };
  const change = (operation: Json) =>
    impacts(api(operation, schemas(['a', 'b'])), api(operation, schemas(['a'])));
  expect(change(asking)).toEqual(['breaking /components/schemas/Kind/enum/b']);
  expect(change({})).toEqual(['unclassified /components/schemas/Kind/enum/b']);
});

test('a change of words for people is compatible, of names like them not', () => {
  expect(judged(asks({ description: 'x' }), asks({ description: 'y' }))).toEqual(['compatible']);
  const change = (make: (type: string) => Json) => judged(gives(make('a')), gives(make('b')));
  expect(change((type) => ({ properties: { title: { type } } }))).toEqual(['breaking']);
  expect(change((type) => ({ example: { type } }))).toEqual(['compatible']);
  expect(change((type) => ({ default: { type } }))).toEqual(['unclassified']);
  const named = (word: string) => gives({ properties: { enum: { [word]: 1 } } });
  expect(judged(named('x-minimum'), named('x-maximum'))).not.toContain('breaking');
});

describe('what is alike in both documents is not compared, but', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const ring = (facts: Json): Json => ({
    A: { properties: { b: ref('B') } },
    B: { properties: { a: ref('A'), c: { items: ref('C') } } },
    C: { properties: { b: ref('B'), x: { type: 'string' } }, ...facts },
  });
  const call = { requestBody: { content: { json: { schema: ref('A') } } } };
  const secured = (scheme: string): Json => ({
    ...api({}),
    components: { securitySchemes: { login: { type: 'http', scheme } } },
    security: [{ login: [] }],
  });
  const within = (id: string | undefined, type: string): Json =>
    api(
      { requestBody: { content: { json: { schema: ref('A') } } } },
      { A: { $id: id, $defs: { T: { type } }, properties: { x: { $ref: '#/$defs/T' } } } },
    );

  test.each<[what: string, before: Json, after: Json, breaks: boolean]>([
    [
      'what its references lead on to is',
      api(call, ring({})),
      api(call, ring({ required: ['x'] })),
      true,
    ],
    [
      'where nothing that it leads on to changed, nothing breaks',
      api(call, { ...ring({}), Other: { type: 'string' } }),
      api(call, { ...ring({}), Other: { type: 'integer' } }),
      false,
    ],
    ['what the whole document asks of it is', secured('basic'), secured('bearer'), true],
    [
      'what a schema with an id means by its references is',
      within('https://a.example/a', 'string'),
      within('https://a.example/a', 'integer'),
      true,
    ],
    [
      'the order of what has places is',
      asks({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }),
      asks({ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] }),
      true,
    ],
    [
      'the name that a path gives its parameter is not',
      { openapi: '3.1.0', paths: { '/{a}': { get: {} } } },
      { openapi: '3.1.0', paths: { '/{b}': { get: {} } } },
      false,
    ],
  ])('%s', (_what, before, after, breaks) => {
    expect(diff(before, after).changes.some(({ impact }) => impact === 'breaking')).toBe(breaks);
  });
});

test('of other documents nothing is said to break', () => {
  expect(impacts({ paths: { a: 1 } }, { paths: {} })).toEqual(['unclassified /paths/a']);
});

test('a spec that came or went is one change', () => {
  expect(impacts(undefined, { a: 1 })).toEqual(['unclassified ']);
  expect(impacts({ a: 1 }, undefined)).toEqual(['unclassified ']);
  expect(impacts(undefined, undefined)).toEqual([]);
});

test('numbers that a double cannot hold are told apart', () => {
  const [before, after] = ['0', '1'].map((end) => `{"n":1234567890123456789${end}}`);
  expect(diffSpecs({ before, after }).changes).toEqual([
    {
      path: '/spec/n',
      kind: 'changed',
      impact: 'unclassified',
      text: 'from 12345678901234567890 to 12345678901234567891',
    },
  ]);
});

test('breaking changes come first and are never among those that are left out', () => {
  const paths = (from: number, n: number) =>
    Object.fromEntries(Array.from({ length: n }, (_, at) => [`/p${from + at}`, {}]));
  const of = (from: number, n: number) => ({ openapi: '3', paths: paths(from, n) });
  const { changes, truncated } = diff(of(0, 10), of(100, 2000));
  expect(changes).toHaveLength(1000);
  expect(truncated).toBe(true);
  expect(changes.filter(({ impact }) => impact === 'breaking')).toEqual(changes.slice(0, 10));
});

test('names of any length do not come back with each change below them', () => {
  const name = 'n'.repeat(2000);
  const parameters = Array.from({ length: 50 }, (_, at) => ({ in: 'query', name: `${name}${at}` }));
  const of = (given: unknown[], type: string) => ({
    openapi: '3.0.0',
    paths: { [`/${name}`]: { get: { parameters: given } }, '/b': { get: { parameters: given } } },
    components: { schemas: { A: { properties: { [name]: { type } } } } },
  });
  const { changes } = diff(of(parameters, 'string'), of([], 'integer'));
  expect(changes.length).toBeGreaterThan(100);
  expect(new Set(changes.map(({ path }) => path))).toEqual(
    new Set([
      '/spec/paths',
      '/spec/paths/~1b/get/parameters',
      '/spec/components/schemas/A/properties',
    ]),
  );
  expect(Math.max(...changes.map(({ text: words }) => words.length))).toBe(200);
});

const documents = fc.dictionary(
  fc.string().filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
);

test('a document differs in nothing from itself, and from another alike in both ways', () => {
  fc.assert(
    fc.property(documents, documents, (one, other) => {
      fc.pre(!JSON.stringify([one, other]).includes('__proto__'));
      expect(diff(one, one).changes).toEqual([]);
      const there = diff(one, other).changes.map(({ path }) => path);
      const back = diff(other, one).changes.map(({ path }) => path);
      expect(there.toSorted()).toEqual(back.toSorted());
    }),
  );
});
