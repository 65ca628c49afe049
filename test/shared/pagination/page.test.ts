import { expect, test } from 'vitest';
import { paginationOf } from '#shared/pagination/page.ts';

test('more follows exactly where there is a cursor to it', () => {
  expect(paginationOf('abc')).toEqual({ hasMore: true, nextCursor: 'abc' });
  expect(paginationOf(undefined)).toStrictEqual({ hasMore: false });
});
