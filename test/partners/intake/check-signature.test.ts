import { createHmac, type KeyObject } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSignature, type SignedRequest } from '#partners/intake/signed-request.ts';
import {
  fixedSignings,
  signingKey,
  toPublicUri,
  toSignedUri,
  type TriedKey,
} from '#partners/intake/signing.ts';
import { Secret, type SecretStatus } from '#shared/crypto/secret.ts';
import { NOW, SECRET_ONE, SECRET_TWO } from '../support.ts';
import { bodyOf, secretsOfVector, vectors } from './vectors.ts';

const { 'signature-v3': v3, 'hmac-sha256': hmac } = fixedSignings;
const keyOne = signingKey(new Secret(SECRET_ONE));
const keyTwo = signingKey(new Secret(SECRET_TWO));
const uri = 'https://trackport.example.com/api/v1/webhooks/partners/crm-two/deletions?a=%20b';
const body = Buffer.from('[{"eventId":1,"objectId":9007199254740993}]');

function signedV3(timestamp = String(NOW), content: Partial<SignedRequest> = {}): SignedRequest {
  const call = { method: 'POST', uri, body, ...content };
  const signature = v3.sign(keyTwo, { ...call, timestamp });
  return { ...call, signatures: [signature], timestamps: [timestamp], ...content };
}

function signedHmac(bytes: Buffer = body): SignedRequest {
  const call = { method: 'POST', uri, body: bytes, timestamp: '' };
  return { ...call, signatures: [hmac.sign(keyOne, call)], timestamps: [] };
}

const active = (key: KeyObject): TriedKey => ({ key, status: 'active', digest: '' });

function refusalOf(...check: Parameters<typeof checkSignature>): string | undefined {
  const verdict = checkSignature(...check);
  return 'refusal' in verdict ? verdict.refusal : undefined;
}

const refusalOfV3 = (call: SignedRequest, now = NOW) => refusalOf(v3, [active(keyTwo)], call, now);
const refusalOfHmac = (call: SignedRequest) => refusalOf(hmac, [active(keyOne)], call, NOW);

describe('the 60 shared cases', () => {
  test('are all here', () => {
    expect(vectors).toHaveLength(60);
  });

  test.each(vectors)('$name', (vector) => {
    const call = {
      method: vector.method,
      uri: vector.uri,
      body: bodyOf(vector),
      signatures: vector.signature === null ? [] : [vector.signature],
      timestamps: vector.timestamp === null ? [] : [vector.timestamp],
    };
    const keys = secretsOfVector(vector).map((secret) => active(signingKey(new Secret(secret))));
    const refusal = refusalOf(fixedSignings[vector.scheme], keys, call, vector.now);
    expect(refusal === undefined).toBe(vector.valid);
    if (vector.signedUri !== undefined) expect(toSignedUri(vector.uri)).toBe(vector.signedUri);
  });
});

describe('signature-v3', () => {
  test.each([
    [300_000, undefined],
    [300_001, 'timestamp-outside-window'],
    [-300_000, undefined],
    [-300_001, 'timestamp-outside-window'],
  ])('a call of age %d ms', (age, refusal) => {
    expect(refusalOfV3(signedV3(), NOW + age)).toBe(refusal);
  });

  test.each(['1.79e12', '', ' ', `0${NOW}`, '１７９０００００２０００', `${NOW}\n`, `+${NOW}`])(
    'a timestamp %j is refused although it is signed',
    (timestamp) => {
      expect(refusalOfV3(signedV3(timestamp))).toBe('timestamp-malformed');
    },
  );

  test('a missing or repeated timestamp is refused', () => {
    const call = signedV3();
    expect(refusalOfV3({ ...call, timestamps: [] })).toBe('signature-wrong');
    expect(refusalOfV3({ ...call, timestamps: [String(NOW), String(NOW)] })).toBe(
      'timestamp-malformed',
    );
  });

  test.each(['%3A', '%2F', '%3F', '%40', '%21', '%24', '%27', '%28', '%29', '%2A', '%2C', '%3B'])(
    'the escape %s is decoded in either case',
    (escape) => {
      const decoded = decodeURIComponent(escape);
      expect(toSignedUri(`/a${escape}b${escape.toLowerCase()}`)).toBe(`/a${decoded}b${decoded}`);
    },
  );

  test.each([
    '%20',
    '%26',
    '%3D',
    '%2B',
    '%25',
    '%253A',
    '%252f',
    '%5B',
    '%c3%a9',
    '%',
    '%zz',
    '%3',
  ])('the escape %s stays', (escape) => {
    expect(toSignedUri(`/a${escape}x`)).toBe(`/a${escape}x`);
  });

  test.each([
    ['no padding', (text: string) => text.slice(0, -1)],
    ['more padding', (text: string) => `${text}=`],
    ['a line break behind', (text: string) => `${text}\n`],
    ['other unused bits', (text: string) => withOtherUnusedBits(text)],
  ])('a signature with %s is refused', (_what, change) => {
    const call = [0, 1, 2, 3, 4, 5, 6, 7]
      .map((more) => signedV3(String(NOW + more)))
      .find(({ signatures }) => /[+/]/.test(signatures[0] ?? ''));
    const changed = change(call?.signatures[0] ?? '');
    expect(call).toBeDefined();
    expect(refusalOfV3({ ...(call as SignedRequest), signatures: [changed] })).toBeDefined();
  });

  test('any changed byte of method, URI, body, timestamp or signature is refused', () => {
    const part = fc.constantFrom<keyof SignedRequest>(
      'method',
      'uri',
      'body',
      'timestamps',
      'signatures',
    );
    fc.assert(
      fc.property(part, fc.nat(), fc.integer({ min: 1, max: 255 }), (name, at, flip) => {
        const call = signedV3();
        const value = call[name];
        const bytes = Buffer.from(Array.isArray(value) ? (value[0] as string) : (value as string));
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ flip;
        const changed = name === 'body' ? bytes : bytes.toString('latin1');
        const mutated = { ...call, [name]: Array.isArray(value) ? [changed] : changed };
        expect(refusalOfV3(mutated as SignedRequest)).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });

  test('bytes moved between URI, body and timestamp are refused', () => {
    const [digit, ...rest] = String(NOW);
    const call = signedV3();
    expect(
      refusalOfV3({
        ...call,
        body: Buffer.concat([body, Buffer.from(digit ?? '')]),
        timestamps: [rest.join('')],
      }),
    ).toBe('timestamp-malformed');
  });
});

describe('hmac-sha256', () => {
  test('a signature made by an independent library is good', async () => {
    const webhooks = new Webhooks({ secret: SECRET_ONE });
    const text = '{"eventType":"lead.deleted","name":"Zoë 🦊"}';
    const signature = await webhooks.sign(text);
    const call = { ...signedHmac(Buffer.from(text)), signatures: [signature] };
    expect(refusalOfHmac(call)).toBeUndefined();
    expect(await webhooks.verify(text, hmac.sign(keyOne, { ...call, timestamp: '' }))).toBe(true);
  });

  test('it is the plain HMAC of the body, whatever the URI and timestamp', () => {
    const hex = createHmac('sha256', SECRET_ONE).update(body).digest('hex');
    const call = { method: 'X', uri: 'y', body, signatures: [`sha256=${hex}`], timestamps: ['z'] };
    expect(refusalOfHmac(call)).toBeUndefined();
    expect(refusalOfHmac({ ...call, signatures: [`sha256=${hex.toUpperCase()}`] })).toBeUndefined();
  });

  test.each([
    ['SHA256=', (text: string) => text.replace('sha256=', 'SHA256=')],
    ['base64', (text: string) => `sha256=${Buffer.from(text.slice(7), 'hex').toString('base64')}`],
    ['a line break behind', (text: string) => `${text}\n`],
  ])('a signature with %s is refused', (_what, change) => {
    const call = signedHmac();
    const signatures = call.signatures.map(change);
    expect(refusalOfHmac({ ...call, signatures })).toBe('signature-malformed');
  });

  test('a missing header is refused, and two headers even when both are good', () => {
    const call = signedHmac();
    expect(refusalOfHmac({ ...call, signatures: [] })).toBe('signature-missing');
    const twice = [...call.signatures, ...call.signatures];
    expect(refusalOfHmac({ ...call, signatures: twice })).toBe('signature-malformed');
  });

  test('any changed byte of the body is refused, and of the header but for the case of digits', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.nat(), fc.integer({ min: 1, max: 255 }), (inBody, at, flip) => {
        const call = signedHmac();
        const [signature = ''] = call.signatures;
        const bytes = Buffer.from(inBody ? body : signature);
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ flip;
        const text = bytes.toString('latin1');
        const isSame = text.startsWith('sha256=') && text.toLowerCase() === signature;
        const mutated = inBody ? { ...call, body: bytes } : { ...call, signatures: [text] };
        expect(refusalOfHmac(mutated) === undefined).toBe(!inBody && isSame);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the public address', () => {
  test.each([
    ['/a/b?c=%3A', 'https://trackport.example.com/a/b?c=%3A'],
    ['http://evil.example/a/b?c=d', 'https://trackport.example.com/a/b?c=d'],
    ['HTTPS://evil.example:8443/a', 'https://trackport.example.com/a'],
    ['//evil.example/a', 'https://trackport.example.com//evil.example/a'],
    ['/http://evil.example/a', 'https://trackport.example.com/http://evil.example/a'],
  ])('of the request target %s is %s', (target, expected) => {
    expect(toPublicUri('https://trackport.example.com', target)).toBe(expected);
    expect(toPublicUri('https://trackport.example.com/', target)).toBe(expected);
  });

  test('keeps a path prefix that a proxy takes off', () => {
    expect(toPublicUri('https://example.com/adapter', '/a')).toBe('https://example.com/adapter/a');
  });
});

test('a secret that is empty cannot be a key', () => {
  expect(() => signingKey(new Secret(''))).toThrow(TypeError);
});

/** The last character before the padding holds two bits that decoding throws away. */
function withOtherUnusedBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const last = alphabet.indexOf(text.charAt(42));
  return `${text.slice(0, 42)}${alphabet.charAt(last ^ 1)}=`;
}

describe('a secret that may not sign at this time', () => {
  const standings = ['active', 'expired', 'not-yet-active'] as const;
  const refusalWith = (...tried: [KeyObject, SecretStatus][]) =>
    refusalOf(
      v3,
      tried.map(([key, status]) => ({ ...active(key), status })),
      signedV3(),
      NOW,
    );

  test('is told apart from a wrong one', () => {
    expect(refusalWith([keyTwo, 'expired'])).toBe('secret-expired');
    expect(refusalWith([keyTwo, 'not-yet-active'])).toBe('secret-not-yet-active');
    for (const status of standings) expect(refusalWith([keyOne, status])).toBe('signature-wrong');
  });

  test('never outweighs the same secret that may', () => {
    const all = standings.map((status): [KeyObject, SecretStatus] => [keyTwo, status]);
    expect(refusalWith(...all)).toBeUndefined();
    expect(refusalWith(...all.toReversed())).toBeUndefined();
    expect(refusalWith([keyOne, 'active'], [keyTwo, 'expired'])).toBe('secret-expired');
  });

  test('is told before an old timestamp', () => {
    const keys = [{ ...active(keyTwo), status: 'expired' as const }];
    expect(refusalOf(v3, keys, signedV3(), NOW + 600_000)).toBe('secret-expired');
  });
});
