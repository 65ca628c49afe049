import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { closestErrors } from '#catalog/spec/validation/schema-check.ts';

const kind = (word: string, ...required: string[]) => ({
  type: 'object',
  properties: { type: { const: word }, size: { type: 'integer' } },
  required: ['type', ...required],
});
const reference = { type: 'object', properties: { $ref: { type: 'string' } }, required: ['$ref'] };

function told(alternatives: object[], value: unknown): string[] {
  const ajv = new Ajv({ allErrors: true, strict: false, verbose: true });
  const check = ajv.compile({ properties: { a: { oneOf: alternatives } } });
  check({ a: value });
  return closestErrors(ajv, check.errors ?? []).map(
    ({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`,
  );
}

test.each<[string, object[], unknown, string[]]>([
  [
    'has the right type',
    [{ type: 'string' }, kind('b', 'x', 'y')],
    { type: 'b' },
    ['/a required {"missingProperty":"x"}', '/a required {"missingProperty":"y"}'],
  ],
  [
    'is no reference, for a value without one',
    [reference, kind('b', 'x', 'y')],
    { type: 'b' },
    ['/a required {"missingProperty":"x"}', '/a required {"missingProperty":"y"}'],
  ],
  [
    'has the word that the value says of itself',
    [kind('a'), kind('b', 'x', 'y')],
    { type: 'b' },
    ['/a required {"missingProperty":"x"}', '/a required {"missingProperty":"y"}'],
  ],
  [
    'finds less wrong',
    [kind('b', 'x', 'y'), kind('b', 'x')],
    { type: 'b' },
    ['/a required {"missingProperty":"x"}'],
  ],
  [
    'is within an alternative',
    [reference, { oneOf: [kind('a'), kind('b')] }],
    { type: 'b', size: 'x' },
    ['/a/size type {"type":"integer"}'],
  ],
  [
    'has all words where none is right',
    [kind('a'), kind('b'), reference],
    { type: 'c' },
    ['/a/type enum {"allowedValues":["a","b"]}'],
  ],
  ['can be two', [kind('b'), kind('b')], { type: 'b' }, ['/a oneOf {}']],
  ['can be two as a reference', [reference, {}], { $ref: 'x' }, []],
])('of a union the alternative is told that %s', (_what, alternatives, value, errors) => {
  expect(told(alternatives, value)).toEqual(errors);
  expect(told(alternatives.toReversed(), value)).toHaveLength(errors.length);
});
