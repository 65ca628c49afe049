import { describe, expect, test } from 'vitest';
import { SignInFailure, type SignInFailureKind } from '#access/sessions/issuer-client.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { cookiesOf, TEST_PAGE } from '../../support/portal/portal.ts';
import { things } from '../../support/portal/things.ts';
import { startPortal } from '../../support/world.ts';

const away = new SignInFailure('unavailable', 'no_connection');

/** A session in use, so long after the sign-in; the issuer was out of reach until a minute ago. */
async function signedInFor(passedMs: number) {
  const renamed: string[] = [];
  const portal = startPortal(things(renamed));
  const browser = await portal.signIn(['trackport:admin', 'catalog:read']);
  const { issuer, clock } = portal;
  issuer.away = away;
  const steps = Math.floor((passedMs - MINUTE) / (10 * MINUTE));
  for (let step = 0; step < steps; step += 1) {
    await clock.advance(10 * MINUTE);
    await browser.get(TEST_PAGE);
  }
  await clock.advance(passedMs - steps * 10 * MINUTE);
  Object.assign(issuer, { away: undefined, confirmations: 0 });
  return { ...portal, open: portal.browser, browser, renamed, rename: renameBy(browser) };
}

type Browser = Awaited<ReturnType<ReturnType<typeof startPortal>['signIn']>>;

const renameBy = (browser: Browser) => async (formToken: string) =>
  browser.post('/portal/things/7/name', { name: 'seven' }, { formToken });

/** Follows the way to the issuer and back; what the callback leads to, with the browser that it left. */
async function thereAndBack({
  browser,
  open,
}: {
  browser: Browser;
  open: ReturnType<typeof startPortal>['browser'];
}) {
  const led = await browser.get('/portal/things?q=a');
  expect(led.location).toMatch(/^https:\/\/id\.example\.com\/auth\?state=.*&prompt=none$/);
  const state = new URL(led.location ?? '').searchParams.get('state');
  const jar = `${browser.cookie}; ${cookiesOf(led)}`;
  const back = await open(jar).get(`/portal/callback?code=c&state=${state}`);
  return { back, next: open(`${browser.cookie}; ${cookiesOf(back)}`) };
}

describe('the first page an hour after the sign-in', () => {
  test('goes to the issuer and back, and the session goes on with what that says', async () => {
    const world = await signedInFor(HOUR);
    const { browser, issuer, clock } = world;
    const { back } = await thereAndBack(world);
    expect(back).toMatchObject({ status: 303, location: '/portal/things?q=a' });
    expect(cookiesOf(back)).not.toContain('trackport-session');
    // The token named `admin` carries trackport:admin alone.
    const page = await browser.get('/portal/things?q=a');
    expect(page.status).toBe(200);
    expect(page.body).toContain('/portal/audit');
    expect(page.body).not.toContain('/portal/catalog');
    issuer.confirmations = 0;
    await clock.advance(20 * MINUTE);
    await browser.get(TEST_PAGE);
    await clock.advance(20 * MINUTE);
    await browser.get(TEST_PAGE);
    await clock.advance(20 * MINUTE - 1);
    expect(await browser.get(TEST_PAGE)).toMatchObject({ status: 200 });
    expect(issuer.confirmations).toBe(0);
    await clock.advance(1);
    expect(await browser.get(TEST_PAGE)).toMatchObject({ status: 303 });
  });

  test('and none before', async () => {
    const { browser, issuer } = await signedInFor(HOUR - 1);
    expect(await browser.get('/portal/things')).toMatchObject({ status: 200 });
    expect(issuer.confirmations).toBe(0);
  });

  test('goes by with the forms of other tabs: their session is the same', async () => {
    const portal = startPortal(things());
    const browser = await portal.signIn();
    const formToken = await browser.formToken();
    await portal.clock.advance(29 * MINUTE);
    await browser.get(TEST_PAGE);
    await portal.clock.advance(29 * MINUTE);
    await browser.get(TEST_PAGE);
    await portal.clock.advance(2 * MINUTE);
    await thereAndBack({ browser, open: portal.browser });
    expect(await renameBy(browser)(formToken)).toMatchObject({ status: 303 });
  });

  test('is not the one that shows what a form made', async () => {
    const { browser, rename, issuer, clock } = await signedInFor(HOUR - MINUTE);
    const formToken = await browser.formToken();
    await clock.advance(MINUTE);
    const { location = '' } = await rename(formToken);
    const page = location.replace('from=form&', '').replace(/#.*/, '');
    const shown = await browser.get(page);
    expect(shown.status).toBe(201);
    expect(shown.body).toContain('s3cret');
    expect(issuer.confirmations).toBe(0);
    // Seen once: now it is a page like any other.
    expect(await browser.get(page)).toMatchObject({ status: 303 });
  });

  test.each<[SignInFailureKind, boolean, number, RegExp]>([
    ['interaction-required', true, 200, /Your session ended.*wants to see you again/s],
    ['wrong-token', false, 403, /gave no access to Trackport/],
    ['client-refused', false, 503, /not set up right/],
  ])('ends the session of who may not any more: %s', async (kind, isFromBrowser, status, words) => {
    const world = await signedInFor(HOUR);
    world.issuer.next = new SignInFailure(kind, 'why', { isFromBrowser });
    const { back } = await thereAndBack(world);
    expect(back.status).toBe(status);
    expect(back.body).toMatch(words);
    expect(cookiesOf(back)).toContain('trackport-session=');
    // Also for a browser that kept the cookie.
    const { location } = await world.browser.get('/portal/things');
    expect(location).toBe('/portal/sign-in?to=%2Fportal%2Fthings');
  });

  test('begins another session for another person', async () => {
    const world = await signedInFor(HOUR);
    world.issuer.next = { accessToken: 'admin-2', idToken: 'id-token-2' };
    const { back } = await thereAndBack(world);
    expect(back).toMatchObject({ status: 303, location: '/portal/things?q=a' });
    expect(cookiesOf(back)).toMatch(/__Host-trackport-session=[\w-]{43}/);
    expect(await world.browser.get(TEST_PAGE)).toMatchObject({ status: 303 });
  });
});

describe('an issuer out of reach', () => {
  test('is asked once a minute, and pages are shown with a notice meanwhile', async () => {
    const { browser, issuer, clock } = await signedInFor(HOUR);
    issuer.away = away;
    for (let count = 0; count < 3; count += 1) {
      const { status, body } = await browser.get('/portal/things');
      expect(status).toBe(200);
      expect(body).toContain('id.example.com cannot be reached');
    }
    expect(issuer.confirmations).toBe(1);
    await clock.advance(MINUTE);
    issuer.away = undefined;
    expect(await browser.get('/portal/things')).toMatchObject({ status: 303 });
  });

  test('when the code is exchanged ends nothing, and leads nobody round in circles', async () => {
    const world = await signedInFor(HOUR);
    world.issuer.next = away;
    const { back, next } = await thereAndBack(world);
    expect(back).toMatchObject({ status: 303, location: '/portal/things?q=a' });
    const page = await next.get('/portal/things?q=a');
    expect(page.status).toBe(200);
    expect(page.body).toContain('cannot be reached');
  });

  test('lets a form through within two hours of the sign-in, and a later one come back', async () => {
    const { rename, renamed, clock, browser, issuer, signIn } = await signedInFor(
      2 * HOUR - 2 * MINUTE,
    );
    issuer.away = away;
    const formToken = await browser.formToken();
    await clock.advance(2 * MINUTE - 1);
    expect(await rename(formToken)).toMatchObject({ status: 303 });
    await clock.advance(1);
    const late = await rename(formToken);
    expect(late.status).toBe(403);
    expect(late.body).toContain('Nothing was done: your sign-in is too old');
    expect(renamed).toHaveLength(1);
    // Pages are shown still.
    expect(await browser.get('/portal/things')).toMatchObject({ status: 200 });
    const again = await renameBy(await signIn())(formToken);
    expect(again.status).toBe(403);
    expect(again.body).toMatch(/value="seven".*signed-in-anew/s);
  });

  test('prolongs no session: after eight hours it is over', async () => {
    const { browser, clock, issuer } = await signedInFor(8 * HOUR - MINUTE);
    issuer.away = away;
    expect(await browser.get('/portal/things')).toMatchObject({ status: 200 });
    await clock.advance(MINUTE);
    const { location } = await browser.get('/portal/things');
    expect(location).toBe('/portal/sign-in?to=%2Fportal%2Fthings');
  });
});

describe('a page that its script opens again', () => {
  const readAgain = async ({ browser }: Awaited<ReturnType<typeof signedInFor>>) =>
    (await browser.get('/portal/things?reload=1')).status;

  test('is no use of the session, which ends half an hour after a person used it last', async () => {
    const world = await signedInFor(10 * MINUTE);
    await world.browser.get(TEST_PAGE);
    await world.clock.advance(29 * MINUTE);
    expect(await readAgain(world)).toBe(200);
    await world.clock.advance(MINUTE);
    expect(await readAgain(world)).toBe(303);
  });

  test('does not go to the issuer by itself, until what that said is too old for a form, too', async () => {
    const world = await signedInFor(HOUR);
    expect(await readAgain(world)).toBe(200);
    expect(world.issuer.confirmations).toBe(0);
    const old = await signedInFor(2 * HOUR);
    expect(await readAgain(old)).toBe(303);
  });
});
