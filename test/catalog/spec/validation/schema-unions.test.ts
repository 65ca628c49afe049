import { expect, test } from 'vitest';
import { closestErrors } from '#catalog/spec/validation/schema-unions.ts';
import type { SchemaError } from '#catalog/spec/validation/schema-errors.ts';

const AT = '/a';
const error = (keyword: string, instancePath = AT, params: object = {}): SchemaError => ({
  keyword,
  instancePath,
  params,
});
const enumOf = (instancePath: string, ...allowedValues: string[]): SchemaError =>
  error('enum', instancePath, { allowedValues });

test.each<[string, readonly SchemaError[], readonly SchemaError[]]>([
  ['has the right type', [error('format', '/a/b'), error('format', '/a/c')], [error('type')]],
  [
    'is no reference, for a value without one',
    [error('required', AT, { missingProperty: 'name' }), error('format', '/a/b')],
    [error('required', AT, { missingProperty: '$ref' })],
  ],
  [
    'is a reference, for a value that is one',
    [error('type', '/a/$ref'), error('format', '/a/$ref')],
    [error('additionalProperties', AT, { additionalProperty: '$ref' })],
  ],
  [
    'has the word that the value says of itself',
    [error('required'), error('required')],
    [enumOf('/a/type', 'other')],
  ],
  [
    'knows the members of the value',
    [error('format', '/a/b'), error('format', '/a/c')],
    [error('required')],
  ],
  [
    'finds less wrong',
    [error('format', '/a/b')],
    [error('format', '/a/b'), error('format', '/a/c')],
  ],
])('the closest alternative %s', (_why, closest, other) => {
  expect(closestErrors([closest, other], AT)).toEqual(closest);
  expect(closestErrors([other, closest], AT)).toEqual(closest);
});

test('a word that no alternative takes is told with the words of all', () => {
  const alternatives = [
    [enumOf('/a/type', 'http')],
    [error('const', '/a/type', { allowedValue: 'plain' }), error('required')],
    [enumOf('/a/type', 'oauth2', 'http'), error('required')],
  ];
  expect(closestErrors(alternatives, AT)).toEqual([
    {
      ...enumOf('/a/type', 'http', 'plain', 'oauth2'),
      message: 'must be equal to one of the allowed values',
    },
  ]);
});

test('so is a value that is none of the words', () => {
  const alternatives = [[enumOf(AT, 'a')], [enumOf(AT, 'b')]];
  expect(closestErrors(alternatives, AT)).toMatchObject([enumOf(AT, 'a', 'b')]);
});

test('words further below stay those of their alternative', () => {
  const below = enumOf('/a/b/type', 'http');
  expect(closestErrors([[below], [enumOf('/a/b/type', 'x'), error('required')]], AT)).toEqual([
    below,
  ]);
});
