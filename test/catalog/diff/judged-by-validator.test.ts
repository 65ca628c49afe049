import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import { asks, gives, type Json } from './documents.ts';

/** Values that tell schemas of the grammar below apart. */
const scalars = [null, true, 0, 1, 2, 5, 6, 1.5, '', 'a', 'b', 'c', 'long text'];
const lists = [[], ['a'], [1], [null], ['a', 'b', 'c']];
const objects = [
  {},
  { a: 'a' },
  { a: 1 },
  { a: null },
  { b: 1 },
  { a: 'a', b: 1 },
  { a: 'b', c: true },
];
const samples: unknown[] = [...scalars, ...lists, ...objects];

const nullable = (schema: Json, isNullable: boolean): Json =>
  isNullable ? { ...schema, type: [schema['type'], 'null'] } : schema;
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const present = (facts: Json): Json =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));

const { schema } = fc.letrec<{ schema: Json; leaf: Json }>((tie) => ({
  leaf: fc
    .tuple(
      fc.oneof(
        fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean') }),
        fc.record({
          type: fc.constant('string'),
          enum: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
        }),
        fc.record({ type: fc.constant('string'), maxLength: some(fc.constantFrom(1, 4)) }),
        fc.record({
          type: fc.constant('integer'),
          minimum: some(fc.constantFrom(0, 1)),
          maximum: some(fc.constantFrom(2, 5)),
        }),
      ),
      fc.boolean(),
    )
    .map(([facts, isNullable]) => {
      const made = nullable(present(facts), isNullable);
      return isNullable && Array.isArray(made['enum'])
        ? { ...made, enum: [...(made['enum'] as unknown[]), null] }
        : made;
    }),
  schema: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'schema' },
    tie('leaf'),
    fc
      .record({
        type: fc.constant('object'),
        properties: fc.record({ a: tie('schema'), b: tie('schema') }),
        required: some(fc.subarray(['a', 'b'])),
      })
      .map(present),
    fc
      .record({
        type: fc.constant('array'),
        items: tie('schema'),
        maxItems: some(fc.constantFrom(0, 2)),
      })
      .map(present),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
  ),
}));

/** Every schema within one, itself first, with what puts another one in its place. */
function places(within: Json): { put: (other: Json) => Json }[] {
  const { properties, items, anyOf } = within as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  const below = (inner: Json, wrap: (changed: Json) => Json) =>
    places(inner).map(({ put }) => ({
      put: (other: Json) => ({ ...within, ...wrap(put(other)) }),
    }));
  return [
    { put: (other) => other },
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) =>
      below(inner, (changed) => ({ properties: { ...properties, [name]: changed } })),
    ),
    ...(items ? below(items, (changed) => ({ items: changed })) : []),
    ...(anyOf ?? []).flatMap((inner, at) =>
      below(inner, (changed) => ({ anyOf: anyOf?.with(at, changed) })),
    ),
  ];
}

/** A schema, and the same with another one somewhere within it. */
const pairs = fc.tuple(schema, schema, fc.nat()).map(([former, other, at]): [Json, Json] => {
  const all = places(former);
  return [former, all[at % all.length]?.put(other) ?? other];
});

const ajv = new Ajv({ strict: false });
const accepts = (one: Json): boolean[] => {
  const validate = ajv.compile(one);
  return samples.map((sample) => validate(sample));
};
const impacts = (before: Json, after: Json) =>
  diffSpecs({ before: JSON.stringify(before), after: JSON.stringify(after) }).changes.map(
    ({ impact }) => impact,
  );

/**
 * Held against a validator: a request that was valid and is not any more, and a response that may be what it never was,
 * must not be told as `compatible`. Objects keep their properties, for a new optional one is said to hurt nobody.
 */
test('what somebody may be hurt by is never told as compatible', () => {
  fc.assert(
    fc.property(pairs, ([former, latter]) => {
      const [before, after] = [accepts(former), accepts(latter)];
      const isNarrowed = before.some((was, at) => was && !after[at]);
      const isWidened = after.some((is, at) => is && !before[at]);
      const asked = impacts(asks(former), asks(latter));
      const given = impacts(gives(former), gives(latter));
      const isSafe = (told: string[]) => told.every((impact) => impact === 'compatible');
      expect(isNarrowed && isSafe(asked)).toBe(false);
      expect(isWidened && isSafe(given)).toBe(false);
    }),
    { numRuns: 200 },
  );
});
