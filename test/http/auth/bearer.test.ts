import { describe, expect, test } from 'vitest';
import type { LogFields } from '#shared/log.ts';
import { makeKey, makeToken } from '../../support/issuer.ts';
import { openWorld } from '../../support/world.ts';
import { openWorld as openVerifier } from '../../adapters/jose/support.ts';
import { callOverHttp } from '../../partners/support.ts';

const operatorPaths = [
  ['GET', '/consumers'],
  ['POST', '/consumers'],
  ['GET', '/consumers/x'],
  ['PATCH', '/consumers/x'],
  ['DELETE', '/consumers/x'],
  ['PUT', '/consumers/x/grants'],
  ['POST', '/consumers/x/keys'],
  ['POST', '/consumers/x/keys/y/rotate'],
  ['DELETE', '/consumers/x/keys/y'],
  ['GET', '/audit'],
  ['GET', '/claims'],
  ['GET', '/claims/1'],
  ['DELETE', '/claims/1'],
  ['GET', '/receipts'],
  ['GET', '/receipts/x'],
  ['POST', '/receipts/x/replay'],
  ['POST', '/receipts/replay'],
] as const;

describe.each(operatorPaths)('%s %s', (method, path) => {
  test('asks for a token, without an error code when there is none', async () => {
    const { call } = openWorld();
    const { status, headers, body } = await call(method, `${path}?wrong=1`, { token: null });
    expect([status, body.code, headers['www-authenticate']]).toEqual([
      401,
      'unauthorized',
      'Bearer',
    ]);
  });

  test('refuses a bad token before it looks at anything else', async () => {
    const { call } = openWorld();
    const { status, headers, body } = await call(method, `${path}?wrong=1`, {
      token: 'bad',
      body: { wrong: 1 },
    });
    expect([status, body.code, headers['www-authenticate']]).toEqual([
      401,
      'unauthorized',
      'Bearer error="invalid_token"',
    ]);
  });

  test('refuses a good token without the scope, and names it', async () => {
    const { call } = openWorld();
    const { status, headers, body } = await call(method, path, { token: 'owner' });
    expect([status, body.code, headers['www-authenticate']]).toEqual([
      403,
      'insufficient-scope',
      'Bearer error="insufficient_scope", scope="trackport:admin"',
    ]);
  });
});

describe('the Authorization header', () => {
  test.each(['Bearer admin', 'bearer admin', 'BEARER admin', 'Bearer  admin', ' Bearer admin '])(
    '"%s" is taken',
    async (authorization) => {
      const { call } = openWorld();
      const reply = await call('GET', '/receipts', { token: null, headers: { authorization } });
      expect(reply.status).toBe(200);
    },
  );

  test.each([
    ['Basic YTpi', 'Bearer'],
    ['admin', 'Bearer'],
    ['BearerX admin', 'Bearer'],
    ['', 'Bearer'],
    ['Bearer', 'Bearer error="invalid_token"'],
    ['Bearer a b', 'Bearer error="invalid_token"'],
    ['Bearer admin, Bearer admin', 'Bearer error="invalid_token"'],
    ['Bearer "admin"', 'Bearer error="invalid_token"'],
  ])('"%s" is refused', async (authorization, challenge) => {
    const { call } = openWorld();
    const reply = await call('GET', '/receipts', { token: null, headers: { authorization } });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, challenge]);
  });

  test('is refused when there are two, even of the same', async () => {
    const { app } = openWorld();
    const call = (...values: string[]) =>
      callOverHttp(app, {
        method: 'GET',
        path: '/api/v1/receipts',
        headers: values.map((value) => ['authorization', value]),
        body: Buffer.alloc(0),
      });
    expect((await call('Bearer admin')).status).toBe(200);
    const twice = await call('Bearer admin', 'Bearer admin');
    expect([twice.status, twice.headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ]);
  });

  test('is the only place for a token', async () => {
    const { call } = openWorld();
    const reply = await call('GET', '/receipts?access_token=admin', { token: null });
    expect(reply.status).toBe(401);
  });
});

/** An app whose tokens come from a real issuer on this machine, waited for `timeoutMs` at most. */
async function openIssuedApp(timeoutMs = 5000) {
  const lines: LogFields[] = [];
  const keep = (fields: LogFields): void => void lines.push(fields);
  const log = { isDebug: () => true, debug: keep, info: keep, warn: keep, error: keep };
  const { issuer, clock, verifier } = await openVerifier({
    keys: { log, timeoutMs },
    rules: { algorithms: ['ES256'], clockToleranceMs: 0 },
  });
  const { app } = openWorld({ clock, log, bearer: { verifier } });
  const call = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await app.inject({ method: 'GET', url: '/api/v1/receipts', headers });
    return { status: reply.statusCode, headers: reply.headers, body: reply.json() };
  };
  return { issuer, clock, lines, call };
}

describe('an issuer', () => {
  test('gives tokens that are taken for their scope', async () => {
    const { issuer, call } = await openIssuedApp();
    const claims = { scope: 'trackport:admin' };
    expect((await call(await makeToken(issuer, { claims }))).status).toBe(200);
    expect((await call(await makeToken(issuer))).status).toBe(403);
    const key = await makeKey('key-1');
    expect((await call(await makeToken(issuer, { claims, key }))).status).toBe(401);
  });

  test('has made a token that is no good: its holder and the log are told why', async () => {
    const { issuer, call, lines } = await openIssuedApp();
    const { headers, body } = await call(await makeToken(issuer, { claims: { aud: 'other' } }));
    const description = 'it is for another audience (aud)';
    const challenge = `Bearer error="invalid_token", error_description="${description}"`;
    expect(headers['www-authenticate']).toBe(challenge);
    expect(body.detail).toContain(description);
    expect(lines).toContainEqual(
      expect.objectContaining({ code: 'unauthorized', error: 'TokenRefused(aud)' }),
    );
  });

  test('that hangs before its keys are known makes 503, not 401, and says when', async () => {
    const { issuer, call } = await openIssuedApp(100);
    issuer.behave('hang');
    const { status, headers, body } = await call(await makeToken(issuer));
    expect([status, body.code, headers['retry-after'], headers['www-authenticate']]).toEqual([
      503,
      'identity-provider-unavailable',
      '30',
      undefined,
    ]);
  });

  test('may name a person in its tokens: the log does not', async () => {
    const { issuer, call, lines } = await openIssuedApp();
    const claims = { scope: 'trackport:admin', sub: 'ada@example.com', client_id: 'Ada Byron' };
    await call(await makeToken(issuer, { claims }));
    expect(lines).toContainEqual(expect.objectContaining({ status: 200, workspaceId: 'default' }));
    expect(JSON.stringify(lines)).not.toMatch(/ada@|byron/i); // a request id may have "ada" in it
  });

  test('leaves no trace of a token in the log', async () => {
    const { issuer, call, lines } = await openIssuedApp();
    const claims = { scope: 'trackport:admin' };
    const good = await makeToken(issuer, { claims });
    const bad = await makeToken(issuer, { claims, key: await makeKey('key-2') });
    await call(good);
    await call(bad);
    expect(lines).toContainEqual(
      expect.objectContaining({ status: 200, subject: 'owner-1', clientId: 'machine' }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ status: 401, code: 'unauthorized' }));
    for (const part of [...good.split('.'), ...bad.split('.')])
      expect(JSON.stringify(lines)).not.toContain(part);
  });
});
