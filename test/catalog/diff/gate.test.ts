import { describe, expect, test, vi } from 'vitest';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import { breaking, further, harmless } from './breaks.ts';
import { asks, type Case, gives } from './documents.ts';

const changesOf = ({ before, after }: Pick<Case, 'before' | 'after'>) =>
  diffSpecs({ before: JSON.stringify(before), after: JSON.stringify(after) }).changes;
const isBreaking = (one: Case) => changesOf(one).some(({ impact }) => impact === 'breaking');
const named = ({ rule, what }: Case) => `${rule}: ${what}`;

test('of 43 kinds of breaking changes and 28 harmless ones each is told as what it is', () => {
  expect([breaking.length, harmless.length]).toEqual([43, 28]);
  expect(breaking.filter((one) => !isBreaking(one)).map(named)).toEqual([]);
  expect(harmless.filter(isBreaking).map(named)).toEqual([]);
});

describe('a change', () => {
  test.each(further.breaking)('of $rule breaks: $what', (one) => {
    expect(isBreaking(one)).toBe(true);
  });
  test.each(further.harmless)('of $rule breaks nothing: $what', (one) => {
    expect(isBreaking(one)).toBe(false);
  });
});

test.each(further.open)('of $rule nobody can tell: $what', (one) => {
  expect(isBreaking(one)).toBe(false);
  expect(changesOf(one).map(({ impact }) => impact)).toContain('unclassified');
});

test.each([
  ['9007199254740993', '9007199254740992'],
  ['123456789012345678901', '123456789012345678900'],
])('a limit beyond what a double holds is compared to its last digit: %s', (most, less) => {
  const of = (maximum: string): string =>
    JSON.stringify(asks({ type: 'integer', maximum: 'M' })).replace('"M"', maximum);
  const impacts = (before: string, after: string) =>
    diffSpecs({ before, after }).changes.map(({ impact }) => impact);
  expect(impacts(of(most), of(less))).toEqual(['breaking']);
  expect(impacts(of(less), of(most))).toEqual(['compatible']);
});

test.each([...harmless, ...further.harmless])(
  'nothing changes for anybody: $rule, $what',
  ({ before }) => {
    expect(changesOf({ before, after: structuredClone(before) })).toEqual([]);
  },
);

test('what breaks is said once for a definition, in words, where it stands', () => {
  const schema = { $ref: '#/components/schemas/A' };
  const operation = { requestBody: { content: { 'application/json': { schema } } } };
  const of = (a: object) => ({
    openapi: '3.1.0',
    paths: { '/a': { put: operation }, '/b': { put: operation } },
    components: { schemas: { A: { type: 'object', properties: { a } } } },
  });
  const change = {
    before: of({ type: 'integer', maximum: 500 }),
    after: of({ type: 'integer', maximum: 200 }),
  };
  expect(changesOf(change)).toEqual([
    {
      path: '/spec/components/schemas/A/properties/a/maximum',
      kind: 'changed',
      impact: 'breaking',
      text: '`maximum` is narrower now: from 500 to 200',
    },
  ]);
});

test('alternatives within alternatives that lead to themselves come to an end', () => {
  const names = Array.from({ length: 12 }, (_, at) => `S${at}`);
  const all = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const of = (type: string) => ({
    openapi: '3.1.0',
    paths: { '/a': { get: { responses: { 200: { content: { a: { schema: all[0] } } } } } } },
    components: {
      schemas: Object.fromEntries(
        names.map((name) => [
          name,
          {
            oneOf: [
              { type, title: name },
              { type: 'array', items: { anyOf: all } },
            ],
          },
        ]),
      ),
    },
  });
  expect(changesOf({ before: of('integer'), after: of('integer') })).toEqual([]);
  expect(changesOf({ before: of('integer'), after: of('string') })[0]?.impact).toBe('breaking');
});

test('of many alternatives that overlap each is held against its former self, and not against all', () => {
  const names = Array.from({ length: 40 }, (_, at) => `S${at}`);
  const of = (type: string) => {
    const schemaAt = (at: number) => ({
      type: 'object',
      properties: {
        kind: { enum: names },
        next: { anyOf: [{ $ref: `#/components/schemas/S${(at + 1) % 40}` }, { type: 'string' }] },
        [`p${at}`]: { type },
      },
    });
    const schemas = Object.fromEntries(names.map((name, at) => [name, schemaAt(at)]));
    const oneOf = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    return asks({ oneOf }, { schemas });
  };
  using texts = vi.spyOn(JSON, 'stringify');
  expect(changesOf({ before: of('number'), after: of('integer') })).toHaveLength(40);
  expect(texts.mock.calls.length).toBeLessThan(5000);
});

test('chains of references are followed to their end, however long', () => {
  const of = (type: string) => {
    const schemaAt = (at: number) => ({
      type: 'object',
      properties: { a: at < 4999 ? { $ref: `#/components/schemas/S${at + 1}` } : { type } },
      allOf: [{ oneOf: [{ type: 'null' }, { type: 'object', properties: {} }, {}] }],
    });
    const schemas = Array.from({ length: 5000 }, (_, at) => [`S${at}`, schemaAt(at)] as const);
    return {
      ...gives({ $ref: '#/components/schemas/S0' }, { schemas: Object.fromEntries(schemas) }),
    };
  };
  expect(changesOf({ before: of('integer'), after: of('string') })).toMatchObject([
    { path: '/spec/components/schemas/S4999/properties/a/type', impact: 'breaking' },
  ]);
});
