import { describe, expect, test } from 'vitest';
import { SignInFailure, type SignInFailureKind } from '#access/sessions/issuer-client.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { cookiesOf, type PortalResponse, TEST_PAGE } from '../../support/portal/portal.ts';
import { startPortal } from '../../support/world.ts';

type TestPortal = ReturnType<typeof startPortal>;

/** The state that a start leads to the issuer with. */
function stateOf({ location = '' }: PortalResponse): string {
  return new URL(location).searchParams.get('state') ?? '';
}

async function start({ browser }: TestPortal, to = '/portal/consumers?q=a') {
  const started = await browser().get(`/portal/sign-in/start?to=${encodeURIComponent(to)}`);
  return { started, cookie: cookiesOf(started), state: stateOf(started) };
}

const callback = ({ browser }: TestPortal, cookie: string | undefined, query: string) =>
  browser(cookie).get(`/portal/callback?${query}`);

describe('signing in', () => {
  test('leads back to the page that was asked for, with a session', async () => {
    const portal = startPortal();
    const { started, cookie, state } = await start(portal);
    expect(started).toMatchObject({ status: 303 });
    expect(started.headers['set-cookie']).toMatch(
      /^__Host-trackport-sign-in-[\w-]{12}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(cookie).not.toMatch(/verifier|nonce|consumers/);
    const back = await callback(portal, cookie, `code=c&state=${state}`);
    expect(back).toMatchObject({ status: 303, location: '/portal/consumers?q=a' });
    const [cleared, session] = [back.headers['set-cookie'] ?? []].flat().map(String);
    expect(cleared).toMatch(/^__Host-trackport-sign-in-[\w-]{12}=; Max-Age=0;/);
    expect(session).toMatch(
      /^__Host-trackport-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const page = await portal.browser(session?.split(';')[0]).get(TEST_PAGE);
    expect(page.body).toContain('Olga');
  });

  test('leads nowhere but into the portal', async () => {
    const portal = startPortal();
    const { cookie, state } = await start(portal, 'https://evil.example/');
    const back = await callback(portal, cookie, `code=c&state=${state}`);
    expect(back).toMatchObject({ status: 303, location: '/portal' });
  });

  test('is completed by the browser that began it, once, within ten minutes', async () => {
    const portal = startPortal();
    const { cookie, state } = await start(portal);
    const other = await start(portal);
    const lost = [
      await callback(portal, undefined, `code=c&state=${state}`),
      await callback(portal, other.cookie, `code=c&state=${state}`),
      await callback(portal, cookie, `code=c&state=${state}x`),
      await callback(portal, cookie, 'code=c'),
      await callback(portal, cookie.replace(/=(....)/, '=AAAA'), `code=c&state=${state}`),
    ];
    await portal.clock.advance(10 * 60_000);
    lost.push(await callback(portal, cookie, `code=c&state=${state}`));
    for (const response of lost) {
      expect(response).toMatchObject({ status: 400, location: undefined });
      expect(response.body).toContain('This browser knows nothing of that sign-in');
      expect(cookiesOf(response)).not.toContain('trackport-session');
    }
  });

  test('that is under way in two tabs succeeds in both, and only the last session stays', async () => {
    const portal = startPortal();
    const first = await start(portal, '/portal/audit');
    const second = await start(portal, '/portal/partners');
    const jar = `${first.cookie}; ${second.cookie}`;
    const one = await callback(portal, jar, `code=c&state=${first.state}`);
    expect(one).toMatchObject({ status: 303, location: '/portal/audit' });
    const session = cookiesOf(one).split('; ').at(-1);
    const two = await callback(portal, `${jar}; ${session}`, `code=c&state=${second.state}`);
    expect(two).toMatchObject({ status: 303, location: '/portal/partners' });
    expect(await portal.browser(session).get(TEST_PAGE)).toMatchObject({ status: 303 });
  });

  test('keeps no more than five attempts with the browser', async () => {
    const portal = startPortal();
    const jar = Array.from({ length: 7 }, (_, at) => `__Host-trackport-sign-in-${at}=x`).join('; ');
    const { headers } = await portal.browser(jar).get('/portal/sign-in/start');
    const set = [headers['set-cookie'] ?? []].flat().map(String);
    expect(set.filter((cookie) => cookie.includes('Max-Age=0'))).toHaveLength(3);
    expect(set).toHaveLength(4);
  });

  test('is not offered to who is signed in, nor again by the way back in the history', async () => {
    const portal = startPortal();
    const admin = await portal.signIn();
    const page = await admin.get('/portal/sign-in?to=/portal/audit');
    expect(page).toMatchObject({ status: 303, location: '/portal/audit' });
    const again = await admin.get('/portal/callback?code=c&state=old');
    expect(again).toMatchObject({ status: 303, location: '/portal' });
  });

  test.each<[SignInFailureKind, number, RegExp]>([
    ['denied', 403, /You were not signed in.*<code>why<\/code>/s],
    ['unavailable', 503, /The sign-in cannot be reached/],
    ['client-refused', 503, /<code>why<.*https:\/\/adapter\.example\.com\/portal\/callback/s],
    ['wrong-token', 403, /gave no access to Trackport.*<code>trackport<\/code>/s],
  ])('that fails is a page that says what to do: %s', async (kind, status, words) => {
    const portal = startPortal();
    const { cookie, state } = await start(portal);
    portal.issuer.next = new SignInFailure(kind, 'why');
    const response = await callback(portal, cookie, `code=c&state=${state}`);
    expect(response.status).toBe(status);
    expect(response.body).toMatch(words);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.headers['retry-after']).toBe(status === 503 ? '30' : undefined);
    expect(cookiesOf(response)).not.toContain('trackport-session');
  });

  test.each<[SignInFailureKind, number]>([
    ['denied', 403],
    ['unavailable', 400],
  ])(
    'that fails by what the browser brought is no failure of a server: %s',
    async (kind, status) => {
      const lines: object[] = [];
      const log: Log = { ...silentLog, info: (fields) => void lines.push(fields) };
      const portal = startPortal(undefined, { log });
      const { cookie, state } = await start(portal);
      lines.length = 0;
      portal.issuer.next = new SignInFailure(kind, 'why', { isFromBrowser: true });
      const response = await callback(portal, cookie, `error=${'x'.repeat(99)}&state=${state}`);
      expect(response.status).toBe(status);
      expect(response.body).toContain('Try again');
      expect(response.headers['retry-after']).toBeUndefined();
      expect(lines).toEqual([expect.objectContaining({ status, signIn: kind, reason: 'why' })]);
      expect(JSON.stringify(lines)).not.toContain('xxx');
    },
  );

  test('with a token of another service is refused', async () => {
    const portal = startPortal();
    const { cookie, state } = await start(portal);
    portal.issuer.next = { accessToken: 'of another service', idToken: 'id-token-1' };
    const response = await callback(portal, cookie, `code=c&state=${state}`);
    expect(response.body).toContain('The sign-in gave no access to Trackport');
  });

  test('that fails again and again is counted as refused credentials are', async () => {
    const portal = startPortal();
    const statuses = [];
    for (let count = 0; count < 302; count += 1)
      statuses.push((await callback(portal, undefined, 'state=made-up')).status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(300);
    expect(statuses.slice(300)).toEqual([429, 429]);
  });

  test('leaves no code, state or token in the log', async () => {
    const lines: string[] = [];
    const write = (fields: object, text: string) => lines.push(`${text} ${JSON.stringify(fields)}`);
    const log: Log = { ...silentLog, isDebug: () => true, debug: write, info: write, warn: write };
    const portal = startPortal(undefined, { log });
    const { cookie, state } = await start(portal);
    await callback(portal, cookie, `code=the-code&state=${state}`);
    await callback(portal, cookie, `code=the-code&state=nobodys-state`);
    expect(lines.join('\n')).toMatch(/signed in .*"subject":"operator-1"/);
    expect(lines.join('\n')).toContain('"signIn":"lost-attempt"');
    expect(lines.join('\n')).not.toMatch(/the-code|state-1-of|nobodys-state|id-token-1/);
  });
});

describe('signing out', () => {
  test('ends the session and leads to the issuer', async () => {
    const portal = startPortal();
    const admin = await portal.signIn(['trackport:admin'], { idToken: 'hint' });
    const response = await admin.post('/portal/sign-out');
    expect(response).toMatchObject({ status: 200 });
    expect(response.headers['refresh']).toBe('0;url=https://id.example.com/end?id_token_hint=hint');
    expect(response.body).toContain('href="https://id.example.com/end?id_token_hint=hint"');
    expect(cookiesOf(response)).toBe('__Host-trackport-session=');
    expect(await admin.get(TEST_PAGE)).toMatchObject({ status: 303 });
  });

  test.each([
    ['of another origin', { headers: { origin: 'https://evil.example' } }],
    ['without a token', { formToken: null }],
  ])('is refused to a form %s', async (_how, options) => {
    const portal = startPortal();
    const admin = await portal.signIn();
    expect(await admin.post('/portal/sign-out', {}, options)).toMatchObject({ status: 403 });
    expect(await admin.get(TEST_PAGE)).toMatchObject({ status: 200 });
  });
});
