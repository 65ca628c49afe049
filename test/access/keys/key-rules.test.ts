import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import {
  createApiKey,
  findKey,
  keyIdOf,
  parseOverlap,
  planRotation,
  refuseTooManyKeys,
  type Rotation,
} from '#access/keys/key-rules.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { consumerWithKey, keyAt } from '../support.ts';

const NOW = 100 * DAY;
const consumer = consumerWithKey().consumer;
const template = keyAt(consumer, 0);

const key = (
  keyId: string,
  facts: Partial<Omit<Key, 'replacedBy'>> & { replacedBy?: string } = {},
) => ({ ...template, keyId, createdAt: 0, ...facts }) as Key;

const withKeys = (...keys: Key[]): Consumer => ({ ...consumer, keys });

const plan = (keys: Key[], keyId?: string, overlapMs = HOUR): Rotation =>
  planRotation(withKeys(...keys), { keyId, overlapMs }, NOW);

const revoked = { revokedAt: NOW - 1 };
const expired = { expiresAt: NOW };

describe('the overlap', () => {
  test('is a day where nothing is said, and 0 to 30 days', () => {
    expect([undefined, 0, 30 * DAY].map(parseOverlap)).toEqual([DAY, 0, 30 * DAY]);
  });

  test.each([-1, 30 * DAY + 1, Number.NaN])('is not %d ms', (overlapMs) => {
    expect(() => parseOverlap(overlapMs)).toThrow(
      expect.objectContaining({ code: 'validation-failed' }),
    );
  });
});

describe('a rotation', () => {
  test('lets the old key live to the end of the overlap, never longer than it would have', () => {
    expect(plan([key('a')]).oldExpiresAt).toBe(NOW + HOUR);
    expect(plan([key('a', { expiresAt: NOW + 1 })]).oldExpiresAt).toBe(NOW + 1);
    expect(plan([key('a', { expiresAt: NOW + DAY })]).oldExpiresAt).toBe(NOW + HOUR);
  });

  test('gives the successor the lifetime that the key was made with', () => {
    expect(plan([key('a')]).lifetimeMs).toBeUndefined();
    const made = { createdAt: NOW - DAY, expiresAt: NOW + 2 * DAY };
    expect(plan([key('a', made)]).lifetimeMs).toBe(3 * DAY);
  });

  test('takes the lifetime from the last successor, because the overlap took the key’s own', () => {
    const old = key('a', { expiresAt: NOW + HOUR, replacedBy: 'b' });
    const heir = key('b', { createdAt: NOW - DAY, expiresAt: NOW + 9 * DAY, ...revoked });
    expect(plan([old, heir], 'a').lifetimeMs).toBe(10 * DAY);
    expect(plan([old, key('b', revoked)], 'a').lifetimeMs).toBeUndefined();
    const cut = key('b', { expiresAt: NOW, replacedBy: 'c' });
    expect(plan([old, cut, key('c')], 'a').lifetimeMs).toBeUndefined();
  });

  test('without a key id takes the one key that is active and has no active successor', () => {
    const chain = [key('a', { replacedBy: 'b' }), key('b', { replacedBy: 'c' }), key('c')];
    expect(plan([key('x', revoked), key('y', expired), ...chain]).old.keyId).toBe('c');
    expect(plan([key('a', { replacedBy: 'b' }), key('b', revoked)]).old.keyId).toBe('a');
  });

  test('without a key id is refused where two could be meant, or none', () => {
    expect(() => plan([key('a'), key('b')])).toThrow(
      expect.objectContaining({
        code: 'validation-failed',
        errors: [expect.objectContaining({ pointer: '#/keyId', code: 'ambiguous' })],
      }),
    );
    expect(() => plan([key('a', revoked)])).toThrow(
      expect.objectContaining({
        code: 'invalid-lifecycle-transition',
        extensions: { allowed: [] },
      }),
    );
  });

  test.each([
    ['revoked', [key('a', revoked)], 'revoked'],
    ['expired', [key('a', expired)], 'expired'],
    ['replaced', [key('a', { replacedBy: 'b' }), key('b')], 'replaced'],
  ])('of a key that is %s is refused', (_, keys, current) => {
    expect(() => plan(keys, 'a')).toThrow(
      expect.objectContaining({
        code: 'invalid-lifecycle-transition',
        extensions: { current, allowed: [] },
      }),
    );
  });

  test('of a key of nobody is not found', () => {
    expect(() => plan([key('a')], 'b')).toThrow(expect.objectContaining({ code: 'not-found' }));
  });
});

describe('active keys', () => {
  const many = (count: number): Key[] => Array.from({ length: count }, (_, at) => key(`k${at}`));

  test('are at most twenty, and those that are revoked or expired do not count', () => {
    const dead = [key('x', revoked), key('y', expired)];
    expect(() => refuseTooManyKeys(withKeys(...many(19), ...dead), NOW)).not.toThrow();
    const refusal = expect.objectContaining({ code: 'invalid-lifecycle-transition' });
    expect(() => refuseTooManyKeys(withKeys(...many(20)), NOW)).toThrow(refusal);
    expect(() => plan(many(20), 'k0')).toThrow(refusal);
  });

  test('are found by their id', () => {
    expect(findKey(withKeys(key('a'), key('b')), 'b').keyId).toBe('b');
  });
});

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('');
const base62 = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...BASE62), minLength: length, maxLength: length });

const aKey = fc
  .tuple(base62(12), base62(32))
  .map(([keyId, secret]) => createApiKey((length) => (length === 12 ? keyId : secret)));

describe('an API key', () => {
  test('has the prefix, twelve characters of id, and 38 of secret and checksum', () => {
    expect(createApiKey().key.reveal()).toMatch(/^tpk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
  });

  test('has a known checksum, so that other programs can compute it', () => {
    const key = createApiKey((length) => 'a'.repeat(length));
    expect(key.key.reveal()).toBe(`tpk_${'a'.repeat(12)}_${'a'.repeat(32)}3YrWYg`);
  });

  test('does not show itself when it is printed', () => {
    const made = createApiKey();
    const printed = `${inspect(made)} ${JSON.stringify(made)} ${made.key.toString()}`;
    expect(printed).not.toContain(made.key.reveal().slice(17));
  });

  test('gives its id back', () => {
    fc.assert(
      fc.property(aKey, (made) => {
        expect(keyIdOf(made.key.reveal())).toBe(made.keyId);
      }),
    );
  });

  test('is refused with any one character changed', () => {
    fc.assert(
      fc.property(aKey, fc.nat(54), fc.constantFrom(...BASE62, '_', ' '), (made, at, other) => {
        const text = made.key.reveal();
        fc.pre(text[at] !== other);
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        expect(keyIdOf(changed)).toBeUndefined();
        expect(sha256(changed).equals(made.digest)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  test('is refused with neighbours swapped, cut short, or with anything around it', () => {
    fc.assert(
      fc.property(aKey, fc.nat(53), (made, at) => {
        const text = made.key.reveal();
        fc.pre(text[at] !== text[at + 1]);
        const swapped =
          text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
        expect(keyIdOf(swapped)).toBeUndefined();
        expect(keyIdOf(text.slice(0, at))).toBeUndefined();
        for (const other of [` ${text}`, `${text} `, `${text}\n`, `${text}, ${text}`, ''])
          expect(keyIdOf(other)).toBeUndefined();
      }),
    );
  });
});
