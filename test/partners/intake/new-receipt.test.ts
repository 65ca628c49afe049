import { expect, test } from 'vitest';
import { effectOfRepeat } from '#partners/intake/new-receipt.ts';
import { outcomes } from '#partners/receipts/receipt.ts';

const idKeys = { id: Buffer.alloc(16, 1), person: Buffer.alloc(16, 2) };

test.each([
  ['PENDING', 'nothing', 'again'],
  ['DONE', 'nothing', 'queue'],
  ['UNMATCHED', 'queue', 'queue'],
  ['FAILED', 'queue', 'queue'],
] as const)(
  'a deletion that is %s: with an id its repeat does %s, without one %s',
  (before, withId, withoutId) => {
    expect(effectOfRepeat({ outcome: 'PENDING', idKeys }, before)).toBe(withId);
    expect(effectOfRepeat({ outcome: 'PENDING' }, before)).toBe(withoutId);
  },
);

test.each(['IGNORED', 'REJECTED'] as const)('a repeat that is %s sets nothing going', (outcome) => {
  for (const before of outcomes) {
    expect(effectOfRepeat({ outcome }, before)).toBe('nothing');
    expect(effectOfRepeat({ outcome, idKeys }, before)).toBe('nothing');
  }
});
