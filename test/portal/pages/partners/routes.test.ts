import { expect, test } from 'vitest';
import { partnersPage } from '#portal/pages/partners.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { secretsOf } from '../../../support/partners.ts';
import { startPortal } from '../../../support/world.ts';

test('the page that shows a partner is found by its id', async () => {
  const one = { scheme: 'hmac-sha256' as const, secrets: secretsOf('s') };
  const ids = Array.from({ length: 12 }, (_, at) => `crm-${at}`);
  const partners = Object.fromEntries(ids.map((id) => [id, one]));
  const { signIn } = startPortal([partnersPage], { partners });
  const admin = await signIn();
  const shownAt = async (search: string) =>
    [...(await admin.get(`/portal/partners${search}`)).body.matchAll(/id="p-(crm-\d+)"/g)].map(
      ([, id]) => id,
    );
  const second = ['crm-5', 'crm-6', 'crm-7', 'crm-8', 'crm-9'];
  for (const search of ['?id=crm-7', '?start=5', '?start=8'])
    expect(await shownAt(search)).toEqual(second);
  expect(await shownAt('?id=gone')).toEqual(await shownAt(''));
  expect(await shownAt('?start=9999')).toEqual(['crm-10', 'crm-11']);
  const { body } = await admin.get('/portal/partners?start=5');
  expect(body).toContain('Partners 6 to 10 of 12');
  expect(body).toContain('href="/portal/partners?start=10"');
});

test('what is expected of a partner is shown, since when it is silent, and what to do then', async () => {
  const clock = createFakeClock();
  const one = { scheme: 'hmac-sha256' as const, secrets: secretsOf('s'), expectEvery: DAY };
  const hearing = {
    note: () => undefined,
    keep: async () => undefined,
    read: async () => new Map([['crm-late', clock.now() - DAY - MINUTE]]),
  };
  const partners = { 'crm-late': one, 'crm-new': one };
  const { signIn } = startPortal([partnersPage], { clock, hearing, partners });
  const { body } = await (await signIn()).get('/portal/partners');
  const [, late = '', recent = ''] = body
    .split(/id="p-crm-\w+"/)
    .map((card) => card.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' '));
  expect(late).toContain('something every 24 h; nothing accepted since 28 Feb 11:59');
  expect(late).toContain('trackport receipt import');
  expect(recent).toContain('something every 24 h');
  expect(recent).not.toContain('nothing accepted since');
});
