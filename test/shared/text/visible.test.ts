import { expect, test } from 'vitest';
import { isLongerThan, isVisible } from '#shared/text/visible.ts';

test.each([
  '',
  ' \t\n',
  '\u200b',
  '\u00a0\u3000',
  '\u3164',
  '\u115f\u2800',
  '\u202e \u2066',
  '\u00ad\ufe0f',
  ' \u0301',
  '\u{e0001}',
])('%j has nothing to see', (text) => {
  expect(isVisible(text)).toBe(false);
});

test.each(['a', '\u200bأ', '。', '漢', '-', '😀\ufe0f', '\u202ea', 'e\u0301'])(
  '%j can be seen',
  (text) => {
    expect(isVisible(text)).toBe(true);
  },
);

test('a length is counted in code points', () => {
  expect(isLongerThan('😀'.repeat(3), 3)).toBe(false);
  expect(isLongerThan('😀😀aa', 3)).toBe(true);
  expect(isLongerThan('😀'.repeat(4), 3)).toBe(true);
});
