import { expect, test } from 'vitest';
import { createSealer } from '#shared/crypto/sealer.ts';
import { keyOf } from '../../support/keys.ts';

const NONCE_BYTES = 12;
const sealer = createSealer(keyOf(1));
const text = Buffer.from('ada@example.com');

test('no two things are sealed with one nonce, however many they are', () => {
  const sealed = Array.from({ length: 1000 }, () => sealer.seal('a', text));
  const nonces = sealed.map((bytes) => bytes.subarray(0, NONCE_BYTES).toString('hex'));
  expect(new Set(nonces).size).toBe(1000);
  for (const bytes of sealed) expect(sealer.open('a', bytes)).toEqual(text);
});

test('what was sealed for one thing opens for no other, with no other key, and not altered', () => {
  const sealed = sealer.seal('a', text);
  const altered = Buffer.from(sealed);
  altered[sealed.length - 1] = (altered.at(-1) ?? 0) ^ 1;
  expect(() => sealer.open('b', sealed)).toThrow();
  expect(() => createSealer(keyOf(2)).open('a', sealed)).toThrow();
  expect(() => sealer.open('a', altered)).toThrow();
});
