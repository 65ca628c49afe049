import { expect, test } from 'vitest';
import { locateIn, readPlaces, toFailure } from '#catalog/import/import-finding.ts';
import { stepsOf } from '../../support/work/steps.ts';

const SECRET = 'hunter2';

test.each([
  [
    Object.assign(new Error(SECRET), { code: 'EIO' }),
    'unreadable',
    'The file cannot be read: EIO.',
  ],
  [new RangeError(SECRET), 'internal-error', 'Unexpected failure: RangeError.'],
  [SECRET, 'internal-error', 'Unexpected failure: string.'],
])('what nobody expected is not blamed on the file, nor quoted: %s', (error, code, detail) => {
  const failure = toFailure(error, { locate: () => undefined, faults: () => [] });
  expect(failure).toEqual({ detail, findings: [{ severity: 'error', code, detail }] });
});

const file = { name: 'a.yaml', bytes: Buffer.from('openapi: 3.1.0\ninfo:\n  version: 1.0.0\n') };

test.each([
  ['#/version', { line: 3, column: 3 }],
  ['#/owner', { line: 2, column: 1 }],
  ['#/spec/info/version', { line: 3, column: 3 }],
  ['#/constructor/name', { line: 2, column: 1 }],
  ['#/spec/%zz/constructor', { line: 1, column: 1 }],
  ['nonsense', { line: 2, column: 1 }],
])('a server may say %s of a document: a place of it is shown', (pointer, place) => {
  expect(locateIn(file, 'document')(pointer)).toEqual(place);
});

const text = `# a remark
top:
  list:
    - one
    - two: &shared
        deep: 1
  "quoted key": x
  404: number
  alias: *shared
  merged:
    <<: [*shared, { last: 2 }]
    own: 1
`;

test.each([
  [[], 2, 1],
  [['top'], 2, 1],
  [['top', 'list', '0'], 4, 7],
  [['top', 'list', '1', 'two', 'deep'], 6, 9],
  [['top', 'quoted key'], 7, 3],
  [['top', '404'], 8, 3],
  [['top', 'alias', 'deep'], 6, 9],
  [['top', 'merged', 'own'], 12, 5],
  [['top', 'merged', 'deep'], 6, 9],
  [['top', 'merged', 'last'], 11, 21],
  [['top', 'missing', 'deeper'], 2, 1],
  [['top', 'list', '9'], 3, 3],
])('%j stands in line %i, column %i', (path, line, column) => {
  expect(readPlaces(text)(path)).toEqual({ line, column });
});

test('JSON, CRLF and an empty text have places too', () => {
  expect(readPlaces('{\r\n "a": [1,\r\n  {"b": 2}]}')(['a', '1', 'b'])).toEqual({
    line: 3,
    column: 4,
  });
  expect(readPlaces('')(['a'])).toEqual({ line: 1, column: 1 });
});

test('a place of every key: four times as many take four times as many steps', () => {
  const stepsFor = (count: number): number => {
    const keys = Array.from({ length: count }, (_, at) => `k${at}`);
    const find = readPlaces(keys.map((key) => `${key}: 1\n`).join(''));
    return stepsOf(() => keys.forEach((key) => void find([key])));
  };
  expect(stepsFor(2000) / stepsFor(500)).toBeLessThan(6);
});
