import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { exportJWK, type JWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { errorFields } from '#shared/log.ts';
import {
  makeKey,
  makeToken,
  type SigningKey,
  startIssuer,
  type TokenOptions,
} from '../../support/issuer.ts';
import { openWorld } from './support.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z') / 1000;
const refused = {
  code: 'unauthorized',
  challenge: 'Bearer error="invalid_token"',
  detail: 'The access token is malformed, expired, or not meant for this service.',
};

const NO_WORKSPACE = 'its workspace cannot be read (workspace_id)';
const NOBODY = 'it names neither a subject nor a client (sub)';

const makeRsa = (): Promise<SigningKey> => makeKey('rsa', 'RS256');

/** Of 1,024 bits: jose refuses to use it (RFC 7518 §3.3). */
function weakRsaKey(): object {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  return { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' };
}

describe('a good token', () => {
  test('names its subject, client, scopes and workspace', async () => {
    const { issuer, verifier } = await openWorld();
    const token = await makeToken(issuer, { claims: { workspace_id: 'acme' } });
    expect(await verifier.verify(token)).toEqual({
      subject: 'owner-1',
      clientId: 'machine',
      scopes: ['catalog:read', 'catalog:write'],
      workspaceId: 'acme',
    });
  });

  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('may be signed with %s', async (alg) => {
    const { issuer, verifier } = await openWorld();
    const key = await makeKey('other', alg);
    issuer.keys = [key];
    await expect(verifier.verify(await makeToken(issuer, { key }))).resolves.toMatchObject({
      subject: 'owner-1',
    });
  });

  test.each<[string, Record<string, unknown>, object]>([
    ['no workspace', {}, { workspaceId: 'default' }],
    ['a list of audiences', { aud: ['other', 'trackport'] }, {}],
    ['scopes as an array', { scope: ['a', 'b'] }, { scopes: ['a', 'b'] }],
    ['no scopes', { scope: undefined }, { scopes: [] }],
    ['azp', { client_id: undefined, azp: 'app' }, { clientId: 'app' }],
    ['cid', { client_id: undefined, cid: 'app' }, { clientId: 'app' }],
    ['appid', { client_id: undefined, appid: 'app' }, { clientId: 'app' }],
    ['an expiry within the tolerance', { exp: NOW - 4 }, {}],
    ['a start within the tolerance', { nbf: NOW + 5, iat: NOW + 5 }, {}],
  ])('may have %s', async (_name, claims, expected) => {
    const { issuer, verifier } = await openWorld();
    const principal = await verifier.verify(await makeToken(issuer, { claims }));
    expect(principal).toMatchObject({ subject: 'owner-1', ...expected });
  });

  test('may name no client at all', async () => {
    const { issuer, verifier } = await openWorld();
    const token = await makeToken(issuer, { claims: { client_id: undefined } });
    expect((await verifier.verify(token)).clientId).toBeUndefined();
  });

  test('may name its client alone, as those of machines sometimes do', async () => {
    const { issuer, verifier } = await openWorld();
    const token = await makeToken(issuer, { claims: { sub: undefined } });
    expect(await verifier.verify(token)).toMatchObject({ subject: 'machine', clientId: 'machine' });
  });

  test.each(['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt'])(
    'may have the type %s',
    async (typ) => {
      const { issuer, verifier } = await openWorld();
      const token = await makeToken(issuer, { header: { typ } });
      await expect(verifier.verify(token)).resolves.toBeDefined();
    },
  );

  test('may have no type and name no key, even when the issuer has several', async () => {
    const { issuer, verifier } = await openWorld();
    const key = await makeKey('third');
    issuer.keys = [await makeKey('first'), await makeKey('second'), key];
    const header = { kid: undefined, typ: undefined } as unknown as { kid: string };
    const token = await makeToken(issuer, { key, header });
    await expect(verifier.verify(token)).resolves.toMatchObject({ subject: 'owner-1' });
  });

  test.each<[string, (good: JWK) => unknown]>([
    ['a weak one', () => weakRsaKey()],
    ['one for encryption', (good) => ({ ...good, kid: 'enc', use: 'enc' })],
    ['one of an unknown kind', (good) => ({ ...good, kid: 'odd', kty: 'LATTICE' })],
    ['one that says nothing of itself', () => ({ kty: 'RSA' })],
    ['one whose numbers are none', () => ({ kty: 'RSA', alg: 'RS256', n: '!', e: 5 })],
    ['one of another curve', async () => (await makeKey('okp', 'EdDSA')).jwk],
    ['one of another holder', async () => (await makeKey('second', 'RS256')).jwk],
    [
      'a private one',
      async (good) => ({ ...(await exportJWK((await makeRsa()).privateKey)), kid: good.kid }),
    ],
    ['what is no key', () => null],
  ])('passes by the right key where %s stands beside it', async (_name, odd) => {
    const key = await makeRsa();
    for (const kid of [undefined, key.kid]) {
      const { issuer, verifier } = await openWorld();
      issuer.keySet = { keys: [await odd(key.jwk), key.jwk, await odd(key.jwk)] };
      const token = await makeToken(issuer, { key, header: { kid } });
      await expect(verifier.verify(token)).resolves.toMatchObject({ subject: 'owner-1' });
    }
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a nonce, as those of Keycloak up to 24 have', { nonce: 'n', typ: 'Bearer' }, 'scope'],
    ['at_hash and c_hash', { at_hash: 'h', c_hash: 'h' }, 'scope'],
    ['a nonce and an array of scopes', { nonce: 'n', scp: ['catalog:read'] }, 'scp'],
  ])('may have %s beside its scopes', async (_name, claims, scopeClaim) => {
    const { issuer, verifier } = await openWorld({ rules: { scopeClaim } });
    const principal = await verifier.verify(await makeToken(issuer, { claims }));
    expect(principal.scopes).toContain('catalog:read');
  });

  test('keeps scopes and workspace where the configuration says', async () => {
    const rules = { scopeClaim: 'scp', workspaceClaim: 'https://acme.example/workspace' };
    const { issuer, verifier } = await openWorld({ rules });
    const token = await makeToken(issuer, {
      claims: { scp: ['catalog:read'], 'https://acme.example/workspace': 'w' },
    });
    expect(await verifier.verify(token)).toMatchObject({
      scopes: ['catalog:read'],
      workspaceId: 'w',
    });
  });
});

describe('refused with the reason, once the signature is good', () => {
  test.each<[claim: string, description: string, claims: Record<string, unknown>]>([
    ['iss', 'it is of another issuer (iss)', { iss: 'https://other.example' }],
    ['iss', 'it is of another issuer (iss)', { iss: 'http://127.0.0.1/' }],
    ['iss', 'it lacks a token claim (iss)', { iss: undefined }],
    ['aud', 'it is for another audience (aud)', { aud: 'other' }],
    ['aud', 'it lacks a token claim (aud)', { aud: undefined }],
    ['exp', 'it lacks a token claim (exp)', { exp: undefined }],
    ['exp', 'a token claim has another form (exp)', { exp: 'soon' }],
    ['exp', 'it has expired (exp)', { exp: NOW - 6 }],
    ['nbf', 'it is not valid yet (nbf)', { nbf: NOW + 6 }],
    ['iat', 'it was made in the future (iat)', { iat: NOW + 6 }],
    ['sub', NOBODY, { sub: undefined, client_id: undefined }],
    ['sub', NOBODY, { sub: 5 }],
    ['sub', NOBODY, { sub: '' }],
    ['sub', NOBODY, { sub: 'a\ud800' }],
    ['workspace_id', NO_WORKSPACE, { workspace_id: ['a'] }],
    ['workspace_id', NO_WORKSPACE, { workspace_id: '' }],
    ['workspace_id', NO_WORKSPACE, { workspace_id: 'a\0' }],
    ['workspace_id', NO_WORKSPACE, { workspace_id: 'a\ud800' }],
    ['typ', 'it is an ID token (typ)', { typ: 'ID' }],
    ['typ', 'it is an ID token (typ)', { typ: 'ID', scope: undefined, nonce: 'n' }],
    ['nonce', 'it is an ID token (nonce)', { nonce: 'n', scope: undefined }],
    ['nonce', 'it is an ID token (nonce)', { nonce: 'n', scope: null }],
    ['nonce', 'it is an ID token (nonce)', { nonce: 'n', scope: undefined, scp: ['a'] }],
    ['at_hash', 'it is an ID token (at_hash)', { at_hash: 'h', scope: undefined }],
    ['c_hash', 'it is an ID token (c_hash)', { c_hash: 'h', scope: undefined }],
  ])('%s: %s', async (claim, description, claims) => {
    const { issuer, verifier } = await openWorld();
    await verifier.verify(await makeToken(issuer)); // the same set-up takes the good one
    for (const header of [{}, { typ: 'JWT' }]) {
      const failure: unknown = await verifier
        .verify(await makeToken(issuer, { claims, header }))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'unauthorized',
        challenge: `Bearer error="invalid_token", error_description="${description}"`,
        detail: `The access token is refused: ${description}.`,
      });
      expect(errorFields((failure as Error).cause)).toEqual({ error: `TokenRefused(${claim})` });
    }
    const foreign = await startIssuer();
    const forged = await makeToken(foreign, { claims: { iss: issuer.issuer, ...claims } });
    await expect(verifier.verify(forged)).rejects.toMatchObject(refused);
  });
});

test('names no claim whose configured name cannot stand in a header', async () => {
  const { issuer, verifier } = await openWorld({ rules: { workspaceClaim: 'a"\r\nb' } });
  const token = await makeToken(issuer, { claims: { 'a"\r\nb': 5 } });
  await expect(verifier.verify(token)).rejects.toMatchObject({
    challenge: 'Bearer error="invalid_token", error_description="its workspace cannot be read"',
  });
});

test('says of an expired token what it is, also when a weak key was tried first', async () => {
  const { issuer, verifier } = await openWorld();
  const key = await makeRsa();
  issuer.keySet = { keys: [weakRsaKey(), key.jwk] };
  const header = { kid: undefined } as unknown as { kid: string };
  const token = await makeToken(issuer, { key, header, claims: { exp: NOW - 6 } });
  await expect(verifier.verify(token)).rejects.toMatchObject({
    challenge: expect.stringContaining('it has expired (exp)'),
  });
});

describe('refused alike', () => {
  test('a signature of a weak key, alone or beside a good one', async () => {
    const { issuer, verifier } = await openWorld();
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const weak = publicKey.export({ format: 'jwk' });
    const good = await makeToken(issuer, {
      key: await makeRsa(),
      header: { kid: undefined },
    });
    const signed = good.split('.').slice(0, 2).join('.');
    const token = `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    for (const keys of [[weak], [weak, (await makeRsa()).jwk]]) {
      issuer.keySet = { keys };
      await expect(verifier.verify(token)).rejects.toMatchObject(refused);
    }
  });

  test.each<[string, TokenOptions]>([
    ['the type of a logout token', { header: { typ: 'logout+jwt' } }],
    ['the type of a proof of possession', { header: { typ: 'dpop+jwt' } }],
    ['the address of a key set', { header: { jku: 'http://127.0.0.1/keys' } }],
    ['the address of a certificate', { header: { x5u: 'http://127.0.0.1/cert' } }],
  ])('%s', async (_name, options) => {
    const { issuer, verifier } = await openWorld();
    await verifier.verify(await makeToken(issuer)); // the same set-up takes the good one
    const token = await makeToken(issuer, { ...options, header: { ...options.header } });
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });

  test('a key that the token brings itself', async () => {
    const { issuer, verifier } = await openWorld();
    const key = await makeKey('mine');
    const token = await makeToken(issuer, {
      key,
      header: { jwk: await exportJWK(key.privateKey) },
    });
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });

  test('a good signature beside the key that made it', async () => {
    const { issuer, verifier } = await openWorld();
    const [key] = issuer.keys;
    const token = await makeToken(issuer, { header: { jwk: { ...key?.jwk } } });
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });

  test('the algorithm none, whatever its spelling', async () => {
    const { issuer, verifier } = await openWorld();
    const [, body] = (await makeToken(issuer)).split('.');
    for (const alg of ['none', 'None', 'NONE', '']) {
      const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt' })).toString('base64url');
      await expect(verifier.verify(`${header}.${body}.`)).rejects.toMatchObject(refused);
    }
  });

  test('an HMAC made with the public key as its secret', async () => {
    const { issuer, verifier } = await openWorld();
    const key = await makeKey('rsa', 'RS256');
    issuer.keys = [key];
    const pem = createPublicKey({ key: key.jwk, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const token = await new SignJWT({ scope: 'catalog:read' })
      .setProtectedHeader({ alg: 'HS256', kid: 'rsa', typ: 'at+jwt' })
      .setIssuer(issuer.issuer)
      .setAudience('trackport')
      .setSubject('owner-1')
      .setIssuedAt(NOW)
      .setExpirationTime(NOW + 300)
      .sign(Buffer.from(pem));
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
    expect(issuer.calls.keys).toBe(0);
  });

  test('an algorithm that the list does not name, though the issuer uses it', async () => {
    const { issuer, verifier } = await openWorld({ rules: { algorithms: ['RS256'] } });
    await expect(verifier.verify(await makeToken(issuer))).rejects.toMatchObject(refused);
  });

  test('another issuer’s signature under a known key id', async () => {
    const { issuer, verifier } = await openWorld();
    const foreign = await startIssuer();
    const token = await makeToken(foreign, { claims: { iss: issuer.issuer } });
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });

  test('a changed body, a cut signature, and what is no token', async () => {
    const { issuer, verifier } = await openWorld();
    const [header, body = '', signature] = (await makeToken(issuer)).split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url');
    for (const token of [
      `${header}.${forged}.${signature}`,
      `${header}.${body}.${signature?.slice(0, -4)}`,
      `${header}.${body}`,
      `${header}.${body}.`,
      'a.b.c',
      'opaque-token',
      '',
    ])
      await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });

  test.each(['sub', 'jti', 'client_id'])('no %s where tokens follow RFC 9068', async (claim) => {
    const { issuer, verifier } = await openWorld({ rules: { tokenType: 'at+jwt' } });
    await expect(verifier.verify(await makeToken(issuer))).resolves.toBeDefined();
    const token = await makeToken(issuer, { claims: { [claim]: undefined } });
    await expect(verifier.verify(token)).rejects.toMatchObject({
      challenge: expect.stringContaining(`it lacks a token claim (${claim})`),
    });
  });

  test.each(['JWT', undefined])('the type %s where tokens follow RFC 9068', async (typ) => {
    const { issuer, verifier } = await openWorld({ rules: { tokenType: 'at+jwt' } });
    const token = await makeToken(issuer, { header: { typ: typ as string } });
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });
});

describe('a remembered token', () => {
  test('is not checked again within a minute, and then is', async () => {
    const { issuer, verifier, clock } = await openWorld();
    const token = await makeToken(issuer);
    const first = await verifier.verify(token);
    await clock.advance(59_000);
    expect(await verifier.verify(token)).toBe(first);
    await clock.advance(1000);
    const second = await verifier.verify(token);
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
  });

  test('is refused once it has expired', async () => {
    const { issuer, verifier, clock } = await openWorld({ rules: { clockToleranceMs: 0 } });
    const token = await makeToken(issuer, { claims: { exp: NOW + 10 } });
    await verifier.verify(token);
    await clock.advance(9999);
    await expect(verifier.verify(token)).resolves.toBeDefined();
    await clock.advance(1);
    await expect(verifier.verify(token)).rejects.toMatchObject({
      challenge: expect.stringContaining('it has expired (exp)'),
    });
  });

  test('is forgotten when the issuer takes its key away', async () => {
    const { issuer, verifier, clock } = await openWorld();
    const token = await makeToken(issuer);
    await verifier.verify(token);
    issuer.keys = [await makeKey('key-2')];
    await clock.advance(31_000);
    await verifier.verify(await makeToken(issuer)); // a new key id: the keys are fetched
    await expect(verifier.verify(token)).rejects.toMatchObject(refused);
  });
});
