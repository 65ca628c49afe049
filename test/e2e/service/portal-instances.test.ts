/** The portal where no two requests of a person need meet the same process. */
import { expect, onTestFinished, test } from 'vitest';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { emptyPostgres } from '../../support/postgres/database.ts';
import { open, PORTAL_URL, post, signInAt } from '../support/signed-in.ts';
import { createWorld, serve } from '../support/world.ts';

const SLOW = { timeout: 180_000 };

async function startPortals(settings: Record<string, unknown>, count: number) {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const { config } = await createWorld({
    identity: { issuer: issuer.url, audience: issuer.audience },
    portal: { clientId: issuer.portalClientId },
    ...settings,
  });
  const urls: string[] = [];
  for (let at = 0; at < count; at += 1) urls.push((await serve(config)).url);
  return { issuer, urls };
}

/** A person who meets another instance with each request; what each says after the sign-out. */
async function walk(urls: string[], issuer: Issuer): Promise<number[]> {
  let turn = 0;
  const next = (path: string): string => `${urls[(turn += 1) % urls.length]}${path}`;
  const { back, cookie, page, formToken } = await signInAt(next, issuer);
  expect([back.status, back.headers.get('location')]).toEqual([303, '/portal/audit']);
  expect(page).toContain('Olivia Owner');
  for (const _each of urls)
    expect(await (await open(next('/portal/audit'), cookie)).text()).toContain('Olivia Owner');

  expect((await post(next('/portal/sign-out'), cookie, { formToken })).status).toBe(200);
  return Promise.all(urls.map(async (url) => (await open(`${url}/portal`, cookie)).status));
}

test('two instances on one PostgreSQL know the same sessions', SLOW, async () => {
  const settings = {
    server: { publicUrl: PORTAL_URL },
    store: { url: (await emptyPostgres()).url },
    secretKey: Buffer.alloc(32, 9).toString('base64'),
  };
  const { issuer, urls } = await startPortals(settings, 2);
  expect(await walk(urls, issuer)).toEqual([303, 303]);
});

const tellLoaded = new URL('../support/tell-loaded.ts', import.meta.url);

test('without the key `portal` there is none, and nothing of it is loaded', SLOW, async () => {
  const ofPortal = /\/src\/portal\/portal\.ts|\/openid-client\//;
  const { config } = await createWorld();
  const { run, url } = await serve(config, { preload: tellLoaded });
  for (const path of ['/portal', '/portal/sign-in', '/portal/assets/portal.css']) {
    const response = await open(`${url}${path}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  }
  expect(run.stderr()).not.toMatch(ofPortal);

  const identity = { issuer: 'http://127.0.0.1:9', audience: 'trackport' };
  const withPortal = await createWorld({ identity, portal: { clientId: 'portal' } });
  const { run: other } = await serve(withPortal.config, { preload: tellLoaded });
  expect(other.stderr()).toMatch(ofPortal);
});
