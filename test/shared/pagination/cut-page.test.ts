import { expect, test } from 'vitest';
import { cutPage } from '#shared/pagination/cut-page.ts';

test('a page has a last row to go on behind when one row more was found, and only then', () => {
  expect(cutPage([1, 2, 3], 2)).toEqual({ items: [1, 2], last: 2 });
  expect(cutPage([1, 2], 2)).toEqual({ items: [1, 2], last: undefined });
  expect(cutPage([], 2)).toEqual({ items: [], last: undefined });
});
