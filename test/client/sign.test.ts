/** A partner's signatures, against the cases that the service is held to. */
import { createSecretKey } from 'node:crypto';
import {
  type HmacSignature,
  signHmac,
  signHmacSha256,
  signStandardWebhooks,
  signV3,
} from '@trackport/client';
import { expect, test } from 'vitest';
import { createHmacSigning, fixedSignings, type HmacForm } from '#partners/intake/signing.ts';
import { bodyOf, secretsOfVector, vectors, type Vector } from '../partners/intake/vectors.ts';

/** Headers that the client would send at this time. */
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

const call = {
  secret: 'secret',
  body: '{"a":"ä"}',
  url: 'https://a.example/x?y=%3A',
  timestampMs: 1_700_000_000_123,
};
const content = {
  method: 'POST',
  uri: call.url,
  body: Buffer.from(call.body),
  timestamp: '1700000000',
};

test.each<[string, HmacSignature, Partial<HmacForm>]>([
  ['GitHub', { header: 'X', prefix: 'sha256=' }, { prefix: 'sha256=' }],
  [
    'Slack',
    { header: 'X', prefix: 'v0=', content: 'v0:{timestamp}:{body}', timestamp: { header: 'T' } },
    { prefix: 'v0=', content: 'v0:{timestamp}:{body}' },
  ],
  [
    'Stripe',
    { header: 'X', pairs: { timestamp: 't', signature: 'v1' }, content: '{timestamp}.{body}' },
    { pairs: { timestamp: 't', signature: 'v1' }, content: '{timestamp}.{body}' },
  ],
  [
    'anybody, over everything',
    { header: 'X', algorithm: 'sha512', encoding: 'base64', content: '{method}{url}{body}' },
    { algorithm: 'sha512', encoding: 'base64', content: '{method}{url}{body}' },
  ],
])('hmac as %s signs is what the service makes of it', async (_who, signature, form) => {
  const headers = await signHmac({ ...call, signature });
  const plain = { algorithm: 'sha256', encoding: 'hex', prefix: '', content: '{body}' } as const;
  const signing = createHmacSigning({ ...plain, ...form });
  const signed = signing.sign(createSecretKey(Buffer.from(call.secret)), content);
  expect(headers['X']).toBe(signing.write(signed, content.timestamp));
  expect(headers['T']).toBe(signature.timestamp && content.timestamp);
});

test('standard-webhooks is what the service makes of it', async () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const headers = await signStandardWebhooks({
    ...call,
    secret: `whsec_${key.toString('base64')}`,
    id: 'msg_1',
  });
  const { sign } = fixedSignings['standard-webhooks'];
  expect(headers).toEqual({
    'webhook-id': 'msg_1',
    'webhook-timestamp': content.timestamp,
    'webhook-signature': sign(createSecretKey(key), { ...content, id: 'msg_1' }),
  });
});
