import { expect, test } from 'vitest';
import { toPathAndQuery } from '#shared/text/address.ts';

test.each([
  ['/a?b=c', '/a?b=c'],
  ['/a%2Fb', '/a%2Fb'],
  ['https://other.example:8443/a?b', '/a?b'],
  ['HTTP://other.example/a', '/a'],
  ['http://user@other.example?b', '?b'],
  ['/a?u=http://other.example/b', '/a?u=http://other.example/b'],
  ['*', '*'],
])('%s is %s', (target, expected) => {
  expect(toPathAndQuery(target)).toBe(expected);
});
