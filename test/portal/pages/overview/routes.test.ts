import { overviewPage } from '#portal/pages/overview/overview-page.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { TRACKER } from '#partners/traffic.ts';
import { TrackportError } from '#shared/errors.ts';
import { DAY } from '#shared/clock.ts';
import { expect, test } from 'vitest';
import { origin } from '../../../access/support.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { settleEvent } from '../../../support/partners.ts';
import { temporaryDatabase } from '../../../support/stores.ts';
import { type PortalThings } from '../../../support/portal/portal.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';
import { openWorld } from '../../../support/world.ts';

const clock = createFakeClock();

const filler = { status: () => ({ state: 'complete', issues: 1 }) } as unknown as DirectoryFiller;

const nobody = async () => ({ items: [], pagination: { hasMore: false } });

function overview(given: PortalThings = {}) {
  const context = {
    readiness: async () => ({ checks: { store: { isReady: true, state: 'ok' } } }),
    hasReadyz: true,
    tracker: { quota: () => undefined, lastFailure: () => undefined, hasWebhookSecret: () => true },
    access: { consumers: { find: nobody } },
    traffic: { read: async () => [] },
    leadFeed: { newestAt: async () => clock.now() - 180_000, listeners: () => 2 },
    ...given,
  };
  return openWorld({ clock, filler, pages: [overviewPage], context });
}

test('shows what came in and what waits', async () => {
  const { portal, deliver } = overview();
  await deliver({ externalId: 'nobody-1', type: 'contact.deletion' });
  const { body, status } = await (await portal.signIn()).get('/portal');
  expect(status).toBe(200);
  expect(body).toContain('1 event in 24 hours');
  expect(body).toContain('Open deletions');
});

test('shows when a lead changed last, and who listens', async () => {
  const { portal } = overview();
  const { body } = await (await portal.signIn([])).get('/portal');
  const text = body.replaceAll(/\s+/g, ' ');
  expect(text).toMatch(
    /Lead feed<\/dt> <dd>Newest change <time[^>]*>3 min ago<.*2 streams open here/,
  );
});

test('a deletion that named nobody is not called well', async () => {
  const { portal, deliver } = overview();
  await deliver({ type: 'contact.deletion' });
  const { body } = await (await portal.signIn()).get('/portal');
  expect(body).toContain('1 event could not be used');
  expect(body).toContain('1 rejected');
  expect(body).not.toContain('All is well');
});

test('what was acknowledged is spoken of no more', async () => {
  const { portal, deliver, partners } = overview();
  const { receipt } = await deliver({ type: 'contact.deletion' });
  await deliver({ type: 'contact.deletion', eventId: 'other' });
  const admin = await portal.signIn();
  const actor = { kind: 'token', subject: 'ada' } as const;
  await partners.receipts.acknowledge(receipt.id, { actor });
  expect((await admin.get('/portal')).body).toContain('1 event could not be used');
  const [open] = (await partners.receipts.list({ filter: { isAcknowledged: false }, limit: 9 }))
    .items;
  await partners.receipts.acknowledge(open?.id ?? '', { actor });
  await clock.advance(10_000);
  expect((await admin.get('/portal')).body).not.toContain('could not be used');
});

test('a dead letter names the issues of all events that failed', async () => {
  const { portal, deliver, work } = overview();
  await deliver([
    { type: 'contact.deletion', leadId: '24' },
    { type: 'contact.deletion', leadId: '25' },
    { type: 'contact.deletion', leadId: '26' },
  ]);
  for (const item of await leaseEvents(work, 'match', { now: clock.now(), limit: 2 }))
    await settleEvent(
      work,
      item,
      { outcome: 'FAILED', lastError: 'locked', attempts: 1 },
      clock.now(),
    );
  const { body } = await (await portal.signIn()).get('/portal');
  expect(body).toContain('Issue #24, #25: ');
});

test('a person who may not see receipts sees health alone', async () => {
  const { portal } = overview();
  const { body, status } = await (await portal.signIn(['catalog:read'])).get('/portal');
  expect(status).toBe(200);
  const page = body.slice(body.indexOf('<main'));
  expect(page).toContain('id="health"');
  expect(page).not.toMatch(/receipts|deletion/i);
});

test('the last webhook is the tracker’s last good one, of any instance', async () => {
  const common = { detail: '', count: 1 };
  const { portal } = overview({
    traffic: {
      read: async () => [
        { sender: 'crm-one', kind: 'verified', lastAt: clock.now() - 1000, ...common },
        { sender: TRACKER, kind: 'verified', lastAt: clock.now() - 240_000, ...common },
        { sender: TRACKER, kind: 'refused', lastAt: clock.now() - 300_000, ...common },
      ],
    },
  });
  const { body } = await (await portal.signIn()).get('/portal');
  expect(body.replaceAll(/\s+/g, ' ')).toMatch(/Last delivery <time[^>]*>4 min ago/);
});

test('deliveries that were refused after it are counted, whatever their reasons', async () => {
  const refused = { sender: TRACKER, kind: 'refused' } as const;
  const { portal } = overview({
    traffic: {
      read: async () => [
        { ...refused, detail: 'content-type', count: 2, lastAt: clock.now() - 60_000 },
        { ...refused, detail: 'signature-wrong', count: 3, lastAt: clock.now() - 120_000 },
        { sender: 'crm-one', kind: 'refused', detail: 'limit', count: 9, lastAt: clock.now() },
        { sender: TRACKER, kind: 'verified', detail: '', count: 1, lastAt: clock.now() - 240_000 },
      ],
    },
  });
  const { body } = await (await portal.signIn()).get('/portal');
  expect(body).toContain('5 deliveries refused in 30 days');
  expect(body).toContain('(wrong content type)');
});

test('the page comes while the store is away', async () => {
  const away = async () => Promise.reject(new TrackportError('store-unavailable'));
  const { portal } = overview({
    readiness: async () => ({ checks: { store: { isReady: false, state: 'unavailable' } } }),
    partners: {
      workerStatus: away,
      recentOutcomes: away,
      list: away,
      receipts: { list: away, read: away },
    },
    traffic: { read: away },
    leadFeed: { newestAt: away, listeners: () => 0 },
  });
  const { body, status } = await (await portal.signIn()).get('/portal');
  expect(status).toBe(200);
  expect(body).toContain('The store cannot be used');
});

test('partners that are refused, keys in use that end, and consumers without a key are named', async () => {
  const database = temporaryDatabase();
  const { access } = openWorld({ clock, database });
  const make = async (name: string, expiresInMs?: number) =>
    access.consumers.create(
      { name, grants: [], ...(expiresInMs !== undefined && { expiresInMs }) },
      origin,
    );
  const used = await make('Cockpit', 10 * DAY);
  const other = openWorld({ clock, database }).access;
  await other.authenticate(used.issued.key.reveal());
  await other.close();
  await make('Dormant', 10 * DAY);
  const bare = await make('Bare');
  const [key] = bare.consumer.keys;
  await access.keys.revoke({ id: bare.consumer.id, keyId: key?.keyId ?? '' }, origin);
  const { partners } = openWorld({ clock, filler });
  const [crm] = await partners.list();
  if (!crm) throw new Error('no partner');
  const refusals = [{ reason: 'signature-wrong', count: 3, lastAt: clock.now() }];
  const { portal } = overview({
    access,
    partners: { ...partners, list: async () => [{ ...crm, refusals }] },
  });
  const { body } = await (await portal.signIn()).get('/portal');
  const text = body.replaceAll(/\s+/g, ' ');
  expect(text).toContain('<h2 id="verdict">A partner is refused</h2>');
  expect(text).toContain('A key in use ends soon. A consumer has no key.');
  const steps = text.slice(text.indexOf('id="next-steps"'));
  expect(steps).toMatch(/Last call refused.*Key ends.*Cockpit.*in 10 days.*No key.*Bare/);
  expect(steps).not.toContain('Dormant');
});

test('partners that are silent are named, with since when and what to do', async () => {
  const { partners } = openWorld({ clock, filler });
  const [one, two] = await partners.list();
  if (!one || !two) throw new Error('no partners');
  const silentSince = clock.now() - 2 * DAY;
  const { portal } = overview({
    partners: { ...partners, list: async () => [{ ...one, silentSince }, two] },
  });
  const { body } = await (await portal.signIn()).get('/portal');
  const text = body.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' ');
  expect(text).toContain('A partner has fallen silent');
  const since = new Date(silentSince).toISOString().slice(11, 16);
  expect(text).toMatch(new RegExp(`Silent ${one.id} \\d+ \\w+ ${since} See at the partner`));
  expect(text).toContain('trackport receipt import');
});
