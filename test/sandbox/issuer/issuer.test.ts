import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { startService } from '#compose/service.ts';
import { withoutRelief } from '../../support/http/app.ts';
import { askForTokens, PORTAL, signIn, CALLBACK, type SignIn } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/folder.ts';

/** Exchanges the code of a sign-in. */
async function redeem(issuer: Issuer, { callback, verifier }: SignIn) {
  return askForTokens(issuer, {
    grant_type: 'authorization_code',
    client_id: issuer.portalClientId,
    code: callback.get('code') ?? '',
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  });
}

/** Signs out at the issuer by the form that it shows; the response says where to go next. */
async function signOut(issuer: Issuer, { browse }: SignIn, idToken: string) {
  const query = new URLSearchParams({
    id_token_hint: idToken,
    post_logout_redirect_uri: `${PORTAL}/portal/signed-out`,
    state: 'bye',
  });
  const page = await (await browse(`${issuer.url}/session/end?${query.toString()}`)).text();
  const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  return browse(action, { xsrf, logout: 'yes' });
}

const SCOPES = 'catalog:read catalog:write catalog:publish trackport:admin';
const machine = {
  clientId: 'tool',
  clientSecret: 'tool-secret-'.repeat(4),
  scopes: 'catalog:read',
};
const stranger = { ...machine, clientId: 'other', scopes: SCOPES, workspaceId: 'other-workspace' };

async function openIssuer(): Promise<Issuer> {
  const issuer = await startIssuer({ machines: [machine, stranger] });
  onTestFinished(() => issuer.close());
  return issuer;
}

const asMachine = (issuer: Issuer, scope = issuer.scopes, form: Record<string, string> = {}) =>
  askForTokens(
    issuer,
    { grant_type: 'client_credentials', scope, ...form },
    `${issuer.machine.clientId}:${issuer.machine.clientSecret}`,
  );

describe('client credentials', () => {
  let issuer: Issuer;
  beforeEach(async () => {
    issuer = await openIssuer();
  });

  test('give an access token of RFC 9068', async () => {
    const { status, body } = await asMachine(issuer);
    expect([status, body.token_type, body.scope]).toEqual([200, 'Bearer', SCOPES]);
    expect(decodeProtectedHeader(body.access_token)).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: expect.any(String),
    });
    expect(decodeJwt(body.access_token)).toMatchObject({
      iss: issuer.url,
      aud: 'trackport',
      sub: issuer.machine.clientId,
      client_id: issuer.machine.clientId,
      jti: expect.any(String),
      scope: SCOPES,
      workspace_id: 'default',
    });
  });

  test('give no more than the client may have', async () => {
    const { body } = await askForTokens(
      issuer,
      { grant_type: 'client_credentials', scope: SCOPES },
      `${machine.clientId}:${machine.clientSecret}`,
    );
    expect(body.scope).toBe('catalog:read');
  });

  test('are refused with another secret, and for another resource', async () => {
    const form = { grant_type: 'client_credentials' };
    const wrong = await askForTokens(issuer, form, `${issuer.machine.clientId}:${'x'.repeat(40)}`);
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    const foreign = await asMachine(issuer, SCOPES, { resource: 'urn:other:api' });
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_target']);
  });
});

describe('the authorization code flow', () => {
  let issuer: Issuer;
  beforeEach(async () => {
    issuer = await openIssuer();
  });

  test('asks who is there, and comes back with a code for tokens', async () => {
    const signedIn = await signIn(issuer);
    expect(signedIn.pages).toHaveLength(1);
    expect(signedIn.callback.get('state')).toBe('state-1');
    expect(signedIn.callback.get('iss')).toBe(issuer.url);
    const { status, body } = await redeem(issuer, signedIn);
    expect(status).toBe(200);
    expect(decodeJwt(body.access_token)).toMatchObject({
      sub: 'owner',
      client_id: issuer.portalClientId,
      scope: SCOPES,
    });
    expect(decodeJwt(body.id_token)).toMatchObject({
      sub: 'owner',
      aud: issuer.portalClientId,
      nonce: 'nonce-1',
    });
  });

  test.each([
    ['owner', SCOPES],
    ['operator', 'catalog:read trackport:admin'],
    ['reader', 'catalog:read'],
  ])('gives the %s what that person may have, and no more', async (person, scope) => {
    const { body } = await redeem(issuer, await signIn(issuer, { person }));
    const claims = { sub: person, workspace_id: 'default' };
    expect(decodeJwt(body.access_token)).toMatchObject({ ...claims, scope });
    expect(decodeJwt(body.id_token)).toMatchObject({ ...claims, name: expect.any(String) });
  });

  test('confirms by itself who is signed in there, and nobody else', async () => {
    const silently = { prompt: 'none' };
    const stranger = await signIn(issuer, { parameters: silently });
    expect(stranger.callback.get('error')).toBe('login_required');
    const signedIn = await signIn(issuer, { person: 'operator' });
    const again = await signIn(issuer, { parameters: silently, browse: signedIn.browse });
    expect(again.pages).toEqual([]);
    const { body } = await redeem(issuer, again);
    expect(decodeJwt(body.access_token)).toMatchObject({
      sub: 'operator',
      scope: 'catalog:read trackport:admin',
    });
  });

  test('gives no refresh tokens', async () => {
    const { body } = await redeem(issuer, await signIn(issuer));
    expect(body).not.toHaveProperty('refresh_token');
  });
});

describe('a sign-out', () => {
  test('forgets the person, and goes back to the portal', async () => {
    const issuer = await openIssuer();
    const signedIn = await signIn(issuer);
    const { body } = await redeem(issuer, signedIn);

    const ended = await signOut(issuer, signedIn, body.id_token);

    expect(ended.headers.get('location')).toBe(`${PORTAL}/portal/signed-out?state=bye`);
    const parameters = { prompt: 'none' };
    const { callback } = await signIn(issuer, { parameters, browse: signedIn.browse });
    expect(callback.get('error')).toBe('login_required');
  });
});

/** The whole service as the sandbox configures it. */
async function openService() {
  const sandbox = await startSandbox({ clock: systemClock, log: silentLog }, { host: '127.0.0.1' });
  onTestFinished(() => sandbox.close());
  const store = { url: `sqlite:${temporaryFolder()}/trackport.db` };
  const settings = { ...sandbox.config, store };
  const config = loadConfig({ environment: {}, port: '0', settings });
  const service = await startService({
    config,
    clock: systemClock,
    log: silentLog,
    limits: withoutRelief,
  });
  onTestFinished(() => service.stop());
  const call = async (method: string, path: string, token?: string, body?: unknown) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { issuer: sandbox.issuer, service, call };
}

describe('the whole service', () => {
  test('tells in /readyz how the issuer is', async () => {
    const { issuer, service, call } = await openService();
    const check = async () => {
      const response = await fetch(`${service.url}/readyz`);
      return ((await response.json()) as { checks: { issuer: object } }).checks.issuer;
    };
    expect(await check()).toEqual({ state: 'unknown', detail: 'Not asked in the last 24 hours.' });
    await call('GET', '/catalog', (await asMachine(issuer)).body.access_token);
    expect(await check()).toEqual({ state: 'ok', detail: '1 key known.' });
  });
});
