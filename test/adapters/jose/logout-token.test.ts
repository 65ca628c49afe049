import { describe, expect, test } from 'vitest';
import { createLogoutTokenVerifier } from '#adapters/jose/logout-token.ts';
import { makeKey, makeToken, type TokenOptions } from '../../support/issuer.ts';
import { openWorld } from './support.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z') / 1000;
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const CLAIMS = {
  aud: 'portal',
  scope: undefined,
  client_id: undefined,
  events: EVENTS,
  sid: 's-1',
};

async function verify({ claims, ...options }: TokenOptions = {}) {
  const { issuer, keySet, clock } = await openWorld();
  const verifier = createLogoutTokenVerifier({
    keySet,
    rules: {
      issuer: issuer.issuer,
      clientId: 'portal',
      algorithms: ['ES256'],
      clockToleranceMs: 5000,
    },
    clock,
  });
  const header = { typ: 'logout+jwt', ...options.header };
  const token = await makeToken(issuer, { ...options, header, claims: { ...CLAIMS, ...claims } });
  return verifier.verify(token);
}

describe('a good logout token', () => {
  test('names the person and the session of the issuer that end', async () => {
    expect(await verify()).toEqual({
      id: 'token-1',
      issuedAt: NOW * 1000,
      issuerSubject: 'owner-1',
      issuerSession: 's-1',
    });
  });

  test.each<[string, TokenOptions, object]>([
    ['only a session', { claims: { sub: undefined } }, { issuerSession: 's-1' }],
    ['only a person', { claims: { sid: undefined } }, { issuerSubject: 'owner-1' }],
    ['the type JWT', { header: { typ: 'JWT' } }, {}],
    ['no type', { header: { typ: undefined } }, {}],
    ['several audiences', { claims: { aud: ['other', 'portal'] } }, {}],
    ['an age of five minutes', { claims: { iat: NOW - 300 } }, {}],
  ])('may have %s', async (_name, options, expected) => {
    expect(await verify(options)).toMatchObject({ id: 'token-1', ...expected });
  });
});

describe('a logout token is refused', () => {
  test.each<[string, TokenOptions]>([
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['for another client', { claims: { aud: 'trackport' } }],
    ['without a time', { claims: { iat: undefined } }],
    ['that is old', { claims: { iat: NOW - 306, exp: NOW + 900 } }],
    ['of the future', { claims: { iat: NOW + 60 } }],
    ['that has expired', { claims: { exp: NOW - 6 } }],
    ['without an id', { claims: { jti: undefined } }],
    ['without events', { claims: { events: undefined } }],
    ['with another event', { claims: { events: { 'http://example.com/other': {} } } }],
    [
      'with an event that is no object',
      { claims: { events: { [Object.keys(EVENTS)[0] ?? '']: 1 } } },
    ],
    ['that names nobody', { claims: { sub: undefined, sid: undefined } }],
    ['with a nonce, as ID tokens have', { claims: { nonce: 'n' } }],
    ['that is an access token', { header: { typ: 'at+jwt' } }],
    ['that brings its key', { header: { jwk: {} } }],
  ])('%s', async (_name, options) => {
    await expect(verify(options)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('signed by a key of nobody, or by an algorithm that is not ours', async () => {
    const stranger = await makeKey('key-1');
    await expect(verify({ key: stranger })).rejects.toMatchObject({ code: 'unauthorized' });
    const other = await makeKey('key-1', 'RS256');
    await expect(verify({ key: other })).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
