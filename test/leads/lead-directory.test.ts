import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldEmail, hashIdentity, type LeadIdentity } from '#leads/lead-directory.ts';

const key = Buffer.alloc(32, 1);
const hash = (identity: LeadIdentity) => hashIdentity(key, identity).toString('hex');

test('e-mail addresses are the same whatever their case, blanks around and composition', () => {
  const same = ['Zoë@Example.com', '  zoë@example.COM\n', 'zoe\u0308@example.com'];
  expect(new Set(same.map((value) => hash({ kind: 'email', value }))).size).toBe(1);
});

test('no two addresses become one that differ in more than case', () => {
  expect(foldEmail('ı@example.com')).not.toBe(foldEmail('i@example.com'));
  expect(foldEmail('a.b@example.com')).not.toBe(foldEmail('ab@example.com'));
  expect(foldEmail('a+x@example.com')).not.toBe(foldEmail('a@example.com'));
});

test('identities of different kind, partner or value never share a hash', () => {
  const text = fc.string({ minLength: 1 }).map((value) => value.trim());
  const identity = fc.oneof(
    text.map((value): LeadIdentity => ({ kind: 'correlation-id', value })),
    fc
      .tuple(text, text)
      .map(([partnerId, value]): LeadIdentity => ({ kind: 'external-id', partnerId, value })),
  );
  fc.assert(
    fc.property(identity, identity, (left, right) => {
      const same = JSON.stringify(left) === JSON.stringify(right);
      expect(hash(left) === hash(right)).toBe(same);
    }),
  );
});

test('a hash tells nothing without the key, and is short', () => {
  const identity: LeadIdentity = { kind: 'email', value: 'ada@example.com' };
  expect(hashIdentity(Buffer.alloc(32, 2), identity).toString('hex')).not.toBe(hash(identity));
  expect(hashIdentity(key, identity)).toHaveLength(16);
});
