/** Certificates are signed so that anybody can check them, and what was altered is found. */
import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCertificateSigner, verifyCertificate } from '#adapters/jose/certificates.ts';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { keyOf } from '../../support/keys.ts';

const ID = '7b6c1f1e-3c9d-4f0a-9a53-0d6f6f1c8a11';
const claims: CertificateClaims = {
  iss: 'https://trackport.example.com',
  iat: 1_790_000_000.123,
  jti: ID,
  sub: 'crm-one',
  events: [{ position: 0, receivedAt: '2026-09-21T14:13:20Z', outcome: 'PENDING' }],
};

function signerOf(fill: number, db = temporaryDatabase()) {
  const clock = createFakeClock(fill);
  return createCertificateSigner({ seed: keyOf(fill), db, clock });
}

async function signed() {
  const signer = signerOf(1);
  return { text: await signer.sign(claims), keys: await signer.keys() };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a certificate is a JWS by Ed25519, as node:crypto alone finds', async () => {
  const { text, keys } = await signed();
  const [header = '', payload = '', signature = ''] = text.split('.');
  const [key] = keys.keys;
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({
    alg: 'EdDSA',
    typ: 'erasure-receipt+jwt',
    kid: key?.kid,
  });
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(claims);
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' });
  const bytes = Buffer.from(`${header}.${payload}`);
  expect(verify(null, bytes, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
});

test('one that is as it was made holds, also with a line break behind it', async () => {
  const { text, keys } = await signed();
  const good = { isGood: true, kid: keys.keys[0]?.kid, claims };
  expect(await verifyCertificate(text, keys)).toEqual(good);
  expect(await verifyCertificate(`${text}\n`, keys)).toEqual(good);
});

describe('an altered certificate does not hold:', () => {
  test('whatever character of it is another', async () => {
    const { text, keys } = await signed();
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === 'A' ? 'B' : 'A';
      const altered = text.slice(0, at) + other + text.slice(at + 1);
      expect((await verifyCertificate(altered, keys)).isGood, `at ${at}`).toBe(false);
    }
  });

  test('whatever spelling of the same bytes it has', async () => {
    const { text, keys } = await signed();
    const bytes = Buffer.from(text.split('.')[2] ?? '', 'base64url');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const others = Array.from(alphabet)
      .map((last) => text.slice(0, -1) + last)
      .filter((one) => one !== text)
      .filter((one) => Buffer.from(one.split('.')[2] ?? '', 'base64url').equals(bytes));
    expect(others.length).toBeGreaterThan(0);
    for (const one of [...others, `${text}=`, `${text}.`, text.replace('.', '..')])
      expect(await verifyCertificate(one, keys)).toMatchObject({ isGood: false });
  });

  test.each<[string, (parts: string[]) => string[]]>([
    ['other claims', ([h = '', , s = '']) => [h, encode({ ...claims, sub: 'crm-two' }), s]],
    ['a part less', ([h = '', p = '']) => [h, p, '']],
    [
      'no algorithm',
      ([h = '', p = '']) => {
        const header = JSON.parse(Buffer.from(h, 'base64url').toString()) as object;
        return [encode({ ...header, alg: 'none' }), p, ''];
      },
    ],
  ])('%s', async (_name, alter) => {
    const { text, keys } = await signed();
    const altered = alter(text.split('.')).join('.');
    expect(await verifyCertificate(altered, keys)).toMatchObject({ isGood: false });
  });
});

test.each([
  ['nothing', ''],
  ['some text', 'hello'],
  ['JSON', '{"outcome":"DONE"}'],
  ['a JWS of another type', `${encode({ alg: 'EdDSA', typ: 'at+jwt', kid: 'k' })}.e30.AAAA`],
  ['one that says what must be understood', `${encode({ alg: 'EdDSA', crit: ['b64'] })}.e30.AAAA`],
])('%s is called no certificate', async (_name, text) => {
  const { keys } = await signed();
  const verdict = await verifyCertificate(text, keys);
  expect(verdict).toMatchObject({ isGood: false, reason: 'not-a-certificate' });
});

test.each([
  ['a set of other keys', async () => signerOf(2).keys()],
  ['an empty set', async () => ({ keys: [] })],
  ['no set', async () => 'nonsense'],
])('by %s the key is said to be missing', async (_name, keysOf) => {
  const { text } = await signed();
  expect(await verifyCertificate(text, await keysOf())).toMatchObject({ reason: 'unknown-key' });
});

test('a key of another owner under the same id does not fit', async () => {
  const { text, keys } = await signed();
  const [foreign] = (await signerOf(2).keys()).keys;
  const mixed = { keys: keys.keys.map((key) => ({ ...key, x: foreign?.x })) };
  expect(await verifyCertificate(text, mixed)).toMatchObject({ reason: 'altered' });
});

test.each([
  ['an outcome of a later version', { events: [{ ...claims.events[0], outcome: 'WITHDRAWN' }] }],
  ['a time that is none', { iat: 1e300 }],
  ['a time of before the epoch', { iat: -1e13 }],
])('one with %s is not called altered', async (_name, other) => {
  const text = await signerOf(1).sign({ ...claims, ...other } as CertificateClaims);
  const verdict = await verifyCertificate(text, await signerOf(1).keys());
  expect(verdict).toMatchObject({ isGood: false, reason: 'not-a-certificate' });
});

test('a key that cannot be one is passed over', async () => {
  const { text, keys } = await signed();
  const [key] = keys.keys;
  const broken = { ...key, x: 'AAAA' };
  expect(await verifyCertificate(text, { keys: [broken] })).toMatchObject({
    reason: 'unknown-key',
  });
  expect(await verifyCertificate(text, { keys: [broken, key] })).toMatchObject({ isGood: true });
});

test('keys that are there for something else are passed over', async () => {
  const { text, keys } = await signed();
  const others = [{ kty: 'RSA', kid: keys.keys[0]?.kid, n: 'AQAB', e: 'AQAB' }, 'nonsense', null];
  const mixed = { keys: [...others, ...keys.keys] };
  expect(await verifyCertificate(text, mixed)).toMatchObject({ isGood: true });
});

describe('a key', () => {
  test('that was used stays in the set when another signs', async () => {
    const db = temporaryDatabase();
    const former = signerOf(1, db);
    const text = await former.sign(claims);
    const set = await signerOf(2, db).keys();
    expect(set.keys).toHaveLength(2);
    expect(await verifyCertificate(text, set)).toMatchObject({ isGood: true });
  });

  test('that was never used is not in the set of the next', async () => {
    const db = temporaryDatabase();
    await signerOf(1, db).keys();
    expect((await signerOf(2, db).keys()).keys).toHaveLength(1);
  });
});
