import { describe, expect, onTestFinished, test } from 'vitest';
import type { SignInAttempt } from '#access/sessions/issuer-client.ts';
import {
  createIssuerClient,
  type RegisteredClient,
} from '#adapters/openid-client/issuer-client.ts';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { systemClock } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startIssuer as startTestIssuer } from '../../support/issuer.ts';
import { type SignIn, signIn } from '../../support/sign-in.ts';

const CALLBACK = 'http://127.0.0.1:4711/portal/callback';

function clientOf(issuer: string, deps: Partial<RegisteredClient> = {}) {
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

/** Query of the callback, after a person signed in where the client leads to. */
async function walk(issuer: Issuer, url: string, browse?: SignIn['browse']) {
  const parameters = Object.fromEntries(new URL(url).searchParams);
  const signedIn = await signIn(issuer, { parameters, ...(browse && { browse }) });
  return { query: signedIn.callback.toString(), browse: signedIn.browse };
}

describe('with a real provider', () => {
  test('a person signs in, and the use of a code twice is refused', async () => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const url = await client.begin(attempt);
    const sent = new URL(url).searchParams;
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect(sent.get('audience')).toBe('trackport');
    expect([...sent.values()]).not.toContain(attempt.verifier);
    const { query, browse } = await walk(issuer, url);
    const tokens = await client.complete(query, attempt);
    expect(tokens).toMatchObject({
      name: 'Olivia Owner',
      accessToken: expect.any(String),
      idToken: expect.any(String),
    });
    await expect(client.complete(query, attempt)).rejects.toMatchObject({ kind: 'grant-refused' });

    // The person who is signed in there is told again without being asked, and nobody else is let in by it.
    const later = client.newAttempt();
    const silent = await client.begin(later, { isSilent: true });
    const confirmed = await walk(issuer, silent, browse);
    expect(await client.complete(confirmed.query, later)).toMatchObject({ name: 'Olivia Owner' });
    const stranger = await walk(issuer, silent);
    await expect(client.complete(stranger.query, later)).rejects.toMatchObject({
      kind: 'interaction-required',
      isFromBrowser: true,
    });
  });

  test.each<[string, (attempt: SignInAttempt) => SignInAttempt, string]>([
    ['another state', (attempt) => ({ ...attempt, state: 'other' }), 'invalid-response'],
    ['another nonce', (attempt) => ({ ...attempt, nonce: 'other' }), 'invalid-response'],
    ['another verifier', (attempt) => ({ ...attempt, verifier: 'x'.repeat(43) }), 'grant-refused'],
  ])('%s is refused', async (_what, change, kind) => {
    const issuer = await realIssuer();
    const client = clientOf(issuer.url);
    const attempt = client.newAttempt();
    const { query } = await walk(issuer, await client.begin(attempt));
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
    const attempt = client.newAttempt();
    const query = new URLSearchParams({ code: 'c', state: attempt.state, iss: issuer.url });
    await expect(client.complete(query.toString(), attempt)).rejects.toMatchObject({
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

  test('is noticed within a minute before anybody is led there unasked', async () => {
    const issuer = await startTestIssuer();
    issuer.discovery = { authorization_endpoint: `${issuer.issuer}/auth` };
    const clock = createFakeClock();
    const client = clientOf(issuer.issuer, { clock });
    const begin = (isSilent: boolean) => client.begin(client.newAttempt(), { isSilent });
    await begin(false);
    issuer.behave('broken');
    await expect(begin(true)).resolves.toContain('prompt=none');
    await clock.advance(60_000);
    await expect(begin(true)).rejects.toMatchObject({ kind: 'unavailable', isFromBrowser: false });
    await expect(begin(false)).resolves.toBeDefined();
  });
});
