import { expect, test } from 'vitest';
import { locateIn } from '#catalog/import/file-places.ts';

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
