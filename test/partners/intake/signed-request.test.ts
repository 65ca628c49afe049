import { describe, expect, test } from 'vitest';
import { createPartner, createPartnerList, type PartnerSettings } from '#partners/partner.ts';
import { signRequest, verifyRequest } from '#partners/intake/signed-request.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { NOW } from '../support.ts';
import { secretsOf } from '../../support/partners.ts';

const uri = 'https://trackport.example.com/api/v1/webhooks/partners/p/deletions?a=%3A';
const body = Buffer.from('{"a":1}');

function roundTrip(settings: PartnerSettings, now = NOW): string {
  const partner = createPartner('p', settings);
  const headers = signRequest(partner, { uri, body, id: 'msg_1' }, now);
  if (headers === undefined) return 'unsigned';
  const given = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const headerValues = (name: string) => [given.get(name.toLowerCase())].filter(isText);
  const deps = { partners: createPartnerList([partner]), clock: { now: () => now } };
  const verdict = verifyRequest(deps, { partnerId: 'p', method: 'POST', uri, body, headerValues });
  return verdict.kind === 'verified' ? verdict.kind : verdict.reason;
}

const isText = (value: string | undefined): value is string => value !== undefined;

describe('a call that we sign', () => {
  test.each(['hmac-sha256', 'signature-v3'] as const)('with %s is verified', (scheme) => {
    expect(roundTrip({ scheme, secrets: secretsOf('s') })).toBe('verified');
  });

  test('carries the partner’s own header names', () => {
    const headers = {
      signature: 'X-HubSpot-Signature-v3',
      timestamp: 'X-HubSpot-Request-Timestamp',
    };
    const partner = createPartner('p', {
      scheme: 'signature-v3',
      secrets: secretsOf('s'),
      headers,
    });
    expect(Object.keys(signRequest(partner, { uri, body, id: '' }, NOW) ?? {})).toEqual([
      'Content-Type',
      headers.signature,
      headers.timestamp,
    ]);
  });

  test('uses a secret that is active, or none', () => {
    const past = { value: new Secret('past'), notAfter: NOW - 1 };
    const present = { value: new Secret('present'), notBefore: NOW };
    const scheme = 'hmac-sha256';
    expect(roundTrip({ scheme, secrets: [past, present] })).toBe('verified');
    expect(roundTrip({ scheme, secrets: [past] })).toBe('unsigned');
  });
});

describe('the work of a refusal', () => {
  const many = createPartner('many', {
    scheme: 'signature-v3',
    secrets: secretsOf('a', 'b', 'c'),
  });
  const expired = createPartner('expired', {
    scheme: 'hmac-sha256',
    secrets: [{ value: new Secret('a'), notAfter: 0 }],
  });
  const disabled = createPartner('off', {
    scheme: 'hmac-sha256',
    secrets: secretsOf('a'),
    enabled: false,
  });
  const partners = createPartnerList([many, expired, disabled]);

  test('is as many HMACs for every partner, known or not', () => {
    for (const partner of [many, expired, disabled, undefined])
      expect(partners.keysToTry(partner, NOW)).toHaveLength(3);
  });

  test('is done with the secrets of the partner, then with ones that nobody knows', () => {
    const real = partners.keysToTry(many, NOW).map(({ key }) => key.export().toString());
    expect(real).toEqual(['a', 'b', 'c']);
    const [past, ...dummies] = partners.keysToTry(expired, NOW);
    expect([past?.status, past?.key.export().toString()]).toEqual(['expired', 'a']);
    expect(dummies.map(({ key }) => key.export().length)).toEqual([32, 32]);
  });

  test.each([
    [-1, 'not-yet-active'],
    [0, 'active'],
    [5, 'active'],
    [6, 'expired'],
  ])('knows at %d ms that a secret is %s', (at, status) => {
    const partner = createPartner('p', {
      scheme: 'hmac-sha256',
      secrets: [{ value: new Secret('a'), notBefore: NOW, notAfter: NOW + 5 }],
    });
    const [tried] = createPartnerList([partner]).keysToTry(partner, NOW + at);
    expect(tried?.status).toBe(status);
  });

  test('finds neither a disabled nor an unknown partner', () => {
    expect(partners.find('off')).toBeUndefined();
    expect(partners.find('nobody')).toBeUndefined();
    expect(partners.find('many')).toBe(many);
    expect(partners.all()).toEqual([many, expired, disabled]);
  });

  test('no partner at all costs one', () => {
    expect(createPartnerList([]).keysToTry(undefined, NOW)).toHaveLength(1);
  });

  test('an empty secret is refused at start-up', () => {
    const partner = createPartner('p', { scheme: 'hmac-sha256', secrets: secretsOf('') });
    expect(() => createPartnerList([partner])).toThrow(TypeError);
  });
});
