import { describe, expect, test } from 'vitest';
import { SignInFailure, type SignInFailureKind } from '#access/sessions/issuer-client.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { startPortal } from '../../support/portal/portal.ts';

/** A session whose access token runs out after five minutes. */
async function renewable(hasRefreshToken = true) {
  const portal = startPortal();
  const browser = await portal.signIn(['trackport:admin', 'catalog:read'], {
    tokenEndsAt: portal.clock.now() + 5 * MINUTE,
    ...(hasRefreshToken && { refreshToken: 'refresh-1' }),
  });
  const nav = async (): Promise<string[]> => {
    const { body } = await browser.get('/portal/time-zone');
    return [...body.matchAll(/href="\/portal\/(audit|catalog)"/g)].map(([, page = '']) => page);
  };
  return { ...portal, browser, nav };
}

const issued = {
  accessToken: 'admin',
  refreshToken: 'refresh-2',
  identity: { subject: 'operator-1', name: 'Olga' },
};

describe('the access token of a session', () => {
  test('is renewed when it runs out, and says what the person may do from then on', async () => {
    const { clock, issuer, nav } = await renewable();
    issuer.next = { ...issued, endsAt: clock.now() + 10 * MINUTE };
    await clock.advance(5 * MINUTE - 1);
    expect(await nav()).toEqual(['catalog', 'audit']);
    expect(issuer.renewals).toEqual([]);
    await clock.advance(1);
    // The token named `admin` carries trackport:admin alone.
    expect(await nav()).toEqual(['audit']);
    expect(await nav()).toEqual(['audit']);
    expect(issuer.renewals).toEqual(['refresh-1']);
    await clock.advance(5 * MINUTE);
    expect(await nav()).toEqual(['audit']);
    expect(issuer.renewals).toEqual(['refresh-1', 'refresh-2']);
  });

  test('is renewed by one request at a time; the others go on with what is known', async () => {
    const { clock, issuer, nav } = await renewable();
    issuer.next = { ...issued, endsAt: clock.now() + HOUR };
    await clock.advance(5 * MINUTE);
    const seen = await Promise.all([nav(), nav(), nav()]);
    expect(issuer.renewals).toEqual(['refresh-1']);
    expect(seen.every((pages) => pages.includes('audit'))).toBe(true);
  });

  test.each<SignInFailureKind>(['grant-refused', 'denied', 'interaction-required', 'wrong-token'])(
    'that the issuer refuses to renew ends the session: %s',
    async (kind) => {
      const { clock, issuer, browser } = await renewable();
      issuer.next = new SignInFailure(kind, 'why');
      await clock.advance(5 * MINUTE);
      expect(await browser.get('/portal/time-zone')).toMatchObject({ status: 303 });
      issuer.next = { ...issued, endsAt: clock.now() + HOUR };
      expect(await browser.get('/portal/time-zone')).toMatchObject({ status: 303 });
    },
  );

  test('of another person ends the session', async () => {
    const { clock, issuer, browser } = await renewable();
    issuer.next = { ...issued, accessToken: 'admin-2' };
    await clock.advance(5 * MINUTE);
    expect(await browser.get('/portal/time-zone')).toMatchObject({ status: 303 });
  });

  test.each<SignInFailureKind>(['unavailable', 'client-refused', 'clock', 'invalid-response'])(
    'that cannot be renewed now is tried again every 30 s, and counts until then: %s',
    async (kind) => {
      const { clock, issuer, nav } = await renewable();
      issuer.next = new SignInFailure(kind, 'why');
      await clock.advance(5 * MINUTE);
      expect(await nav()).toEqual(['catalog', 'audit']);
      expect(await nav()).toEqual(['catalog', 'audit']);
      expect(issuer.renewals).toHaveLength(1);
      await clock.advance(30_000);
      expect(await nav()).toEqual(['catalog', 'audit']);
      expect(issuer.renewals).toHaveLength(2);
    },
  );

  test('counts until the limits of the session where it cannot be renewed', async () => {
    const { clock, issuer, nav, browser } = await renewable(false);
    for (let half = 0; half < 2 * 12 * 3 - 1; half += 1) {
      await clock.advance(10 * MINUTE);
      expect(await nav()).toContain('audit');
    }
    expect(issuer.renewals).toEqual([]);
    await clock.advance(10 * MINUTE);
    expect(await browser.get('/portal/time-zone')).toMatchObject({ status: 303 });
  });
});
