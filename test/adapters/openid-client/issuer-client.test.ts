import { describe, expect, onTestFinished, test } from 'vitest';
import type { SignInAttempt } from '#access/sessions/issuer-client.ts';
import {
  createIssuerClient,
  type IssuerClientDeps,
} from '#adapters/openid-client/issuer-client.ts';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { systemClock } from '#shared/clock.ts';
import { startIssuer as startTestIssuer } from '../../support/issuer.ts';
import { signIn } from '../../support/sign-in.ts';

const CALLBACK = 'http://127.0.0.1:4711/portal/callback';

function clientOf(issuer: string, deps: Partial<IssuerClientDeps> = {}) {
  return createIssuerClient({
    issuer,
    clientId: 'trackport-portal',
    clientSecret: () => undefined,
    scopes: ['openid', 'profile', 'catalog:read'],
    audience: 'trackport',
    redirectUri: () => CALLBACK,
    signedOutUri: () => 'http://127.0.0.1:4711/portal/signed-out',
    clockToleranceMs: 5000,
    clock: systemClock,
    closed: new AbortController().signal,
    ...deps,
  });
}

async function realIssuer(): Promise<Issuer> {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  return issuer;
}

/** What the callback is called with, after a person signed in where the client leads to. */
async function walk(issuer: Issuer, url: string): Promise<string> {
  const parameters = Object.fromEntries(new URL(url).searchParams);
  return (await signIn(issuer, { parameters })).callback.toString();
}

describe('with a real provider', () => {
  test('a person signs in, the token is renewed, and its use twice is refused', async () => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const url = await client.begin(attempt);
    const sent = new URL(url).searchParams;
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect(sent.get('audience')).toBe('trackport');
    expect([...sent.values()]).not.toContain(attempt.verifier);
    const query = await walk(issuer, url);
    const tokens = await client.complete(query, attempt);
    expect(tokens).toMatchObject({
      identity: { subject: 'owner', name: 'Olivia Owner' },
      endsAt: expect.any(Number),
      refreshToken: expect.any(String),
      idToken: expect.any(String),
    });
    const renewed = await client.renew(tokens.refreshToken ?? '');
    expect(renewed.accessToken).not.toBe(tokens.accessToken);
    await expect(client.renew('made up')).rejects.toMatchObject({ kind: 'grant-refused' });
    await expect(client.complete(query, attempt)).rejects.toMatchObject({ kind: 'grant-refused' });
  });

  test.each<[string, (attempt: SignInAttempt) => SignInAttempt, string]>([
    ['another state', (attempt) => ({ ...attempt, state: 'other' }), 'invalid-response'],
    ['another nonce', (attempt) => ({ ...attempt, nonce: 'other' }), 'invalid-response'],
    ['another verifier', (attempt) => ({ ...attempt, verifier: 'x'.repeat(43) }), 'grant-refused'],
  ])('%s is refused', async (_what, change, kind) => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const query = await walk(issuer, await client.begin(attempt));
    const completed = client.complete(query, change(attempt));
    await expect(completed).rejects.toMatchObject({ kind });
  });

  test('what the issuer said at the callback becomes its kind, and never its own words', async () => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const said = async (error: string) => {
      const query = new URLSearchParams({
        error,
        error_description: 'secret words',
        state: attempt.state,
        iss: issuer.url,
      });
      return client.complete(query.toString(), attempt).catch((failure: unknown) => failure);
    };
    expect(await said('access_denied')).toMatchObject({ kind: 'denied', reason: 'access_denied' });
    expect(await said('invalid_scope')).toMatchObject({ kind: 'client-refused' });
    expect(await said('server_error')).toMatchObject({ kind: 'unavailable' });
    expect(await said('login_required')).toMatchObject({ kind: 'interaction-required' });
    for (const word of ['<script>', 'toString']) {
      const unknown = await said(word);
      expect(unknown).toMatchObject({ kind: 'ended', reason: 'unknown_error' });
      expect(String(unknown)).not.toContain('secret words');
    }
  });

  test('what the browser made up is told from what the issuer said itself', async () => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const { state } = attempt;
    const failed = (query: Record<string, string>) =>
      client
        .complete(new URLSearchParams({ iss: issuer.url, ...query }).toString(), attempt)
        .catch((failure: unknown) => failure);
    const madeUp = { isFromBrowser: true };
    for (const error of ['access_denied', 'server_error', 'invalid_client', 'x'])
      expect(await failed({ state, error })).toMatchObject(madeUp);
    expect(await failed({ state })).toMatchObject(madeUp);
    expect(await failed({ state, code: 'c', iss: 'https://other.example.com' })).toMatchObject(
      madeUp,
    );
    expect(await failed({ state, code: 'c' })).toMatchObject({
      kind: 'grant-refused',
      isFromBrowser: false,
    });
  });

  test('sign-out leads to the issuer, with the hint, and back', async () => {
    const { url } = await realIssuer();
    const location = await clientOf(url).signOutUrl('hint');
    const { origin, searchParams } = new URL(location ?? '');
    expect(origin).toBe(url);
    expect(searchParams.get('id_token_hint')).toBe('hint');
    expect(searchParams.get('post_logout_redirect_uri')).toMatch(/\/portal\/signed-out$/);
  });

  test('a client that the issuer does not know, or a wrong secret, is told so', async () => {
    const issuer = await realIssuer();
    const { clientId } = issuer.machine;
    const client = clientOf(issuer.url, { clientId, clientSecret: () => 'wrong' });
    await expect(client.renew('any')).rejects.toMatchObject({
      kind: 'client-refused',
      reason: 'invalid_client',
    });
  });
});

describe('an issuer that is not there', () => {
  test.each(['broken', 'reset', 'nonsense', 'redirect'] as const)('%s', async (behaviour) => {
    const issuer = await startTestIssuer();
    issuer.behave(behaviour);
    const client = clientOf(issuer.issuer);
    await expect(client.begin(client.newAttempt())).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await client.signOutUrl('hint')).toBeUndefined();
  });

  test('a request is given up when the service stops', async () => {
    const issuer = await startTestIssuer();
    issuer.behave('hang');
    const closed = new AbortController();
    const client = clientOf(issuer.issuer, { closed: closed.signal });
    const begun = client.begin(client.newAttempt());
    closed.abort();
    await expect(begun).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('discovery is shared by those who wait, done once a day, and tried again at once', async () => {
    const issuer = await startTestIssuer();
    issuer.discovery = { authorization_endpoint: `${issuer.issuer}/auth` };
    const client = clientOf(issuer.issuer);
    issuer.behave('broken');
    await expect(client.begin(client.newAttempt())).rejects.toThrow();
    issuer.behave('good');
    const begin = () => client.begin(client.newAttempt());
    await Promise.all([begin(), begin(), begin()]);
    await begin();
    expect(issuer.calls.discovery).toBe(2);
  });
});
