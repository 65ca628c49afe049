import { duration } from '#portal/shell/times.ts';
import { expect, test } from 'vitest';

test.each([
  [-1, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [6_900_000, '1 h 55 min'],
  [10 * 3_600_000 - 1, '9 h 59 min'],
  [24 * 3_600_000 - 1, '23 h'],
  [48 * 3_600_000 - 1, '47 h'],
  [48 * 3_600_000, '2 days'],
  [1200 * 86_400_000, '1,200 days'],
])('%i ms last %s: never rounded up', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
