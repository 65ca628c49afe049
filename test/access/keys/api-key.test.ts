import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createApiKey, keyIdOf } from '#access/keys/key-rules.ts';
import { sha256 } from '#shared/crypto/hash.ts';

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
