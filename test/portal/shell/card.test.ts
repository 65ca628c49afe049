import { facts } from '#portal/shell/card.ts';
import { expect, test } from 'vitest';

test('facts without a value are left out', () => {
  const text = facts(
    [
      ['Owner', 'team'],
      ['Group', undefined],
    ],
    { across: true },
  ).toString();
  expect(text.match(/<dt>/g)).toHaveLength(1);
  expect(text).toContain('class="facts across"');
});
