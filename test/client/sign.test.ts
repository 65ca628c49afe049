/** A partner's signatures, against the cases that the service is held to. */
import { signHmacSha256, signV3 } from '@trackport/client';
import { expect, test } from 'vitest';
import { bodyOf, secretsOfVector, vectors, type Vector } from '../partners/intake/vectors.ts';

/** What the client would send at this time. */
async function signatureOf(vector: Vector, secret: string): Promise<string | undefined> {
  const { scheme, method, uri: url, timestamp } = vector;
  const call = { secret, body: bodyOf(vector) };
  if (scheme === 'hmac-sha256') return (await signHmacSha256(call))['X-Partner-Signature'];
  const headers = await signV3({ ...call, method, url, timestampMs: Number(timestamp) });
  return headers['X-Vendor-Signature-v3'];
}

/** A right signature that comes too late, or at no time, or that belongs to another address. */
const isJudgedByMore = ({ timestamp, now, uriMismatch = false }: Vector): boolean =>
  uriMismatch ||
  (timestamp !== null &&
    (!/^\d{13}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300_000));

test('there are cases of both schemes', () => {
  const count = (scheme: string) => vectors.filter((vector) => vector.scheme === scheme).length;
  expect([count('signature-v3'), count('hmac-sha256')]).toEqual([39, 21]);
});

const judged = vectors.filter((vector) => !isJudgedByMore(vector));

test.each(judged.map((vector) => [vector.name, vector] as const))('%s', async (_name, vector) => {
  // An empty key is none for WebCrypto, as for the service.
  const secrets = secretsOfVector(vector).filter((secret) => secret !== '');
  const made = await Promise.all(secrets.map((secret) => signatureOf(vector, secret)));
  const isHex = vector.scheme === 'hmac-sha256';
  const sent = isHex ? vector.signature?.toLowerCase() : vector.signature;
  expect(made.includes(sent ?? '')).toBe(vector.valid);
});

test('a call without a time is one of now', async () => {
  const before = Date.now();
  const headers = await signV3({ secret: 's', url: 'https://adapter.example.com/', body: '[]' });
  const sentAt = Number(headers['X-Vendor-Request-Timestamp']);
  expect(sentAt).toBeGreaterThanOrEqual(before);
  expect(sentAt).toBeLessThanOrEqual(Date.now());
});
