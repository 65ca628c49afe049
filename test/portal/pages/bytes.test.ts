import { expect, test } from 'vitest';
import type { Access } from '#access/index.ts';
import { createClaimStore } from '#adapters/store/claim/claim-store.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createClaimedLeads } from '#leads/claims/claimed-leads.ts';
import { auditPages } from '#portal/pages/audit/routes.ts';
import { consumerPages } from '#portal/pages/consumers/routes.ts';
import { overviewPages } from '#portal/pages/overview/routes.ts';
import { partnerPages } from '#portal/pages/partners/routes.ts';
import { receiptPages } from '#portal/pages/receipts/routes.ts';
import { TRACKER } from '#partners/traffic/traffic.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { origin } from '../../access/support.ts';
import { buildAccess } from '../../support/access.ts';
import { createFakeClock } from '../../support/clock.ts';
import { REPOSITORY } from '../../support/directory.ts';
import { buildPartners, secretsOf } from '../../support/partners.ts';
import { bytesOf, PAGE_BYTES_MAX } from '../../support/portal/page-bytes.ts';
import { pagesContext, type PortalResponse, startPortal } from '../../support/portal/portal.ts';
import { temporaryDatabase } from '../../support/stores.ts';

/** Escapes to many times its length, in text and in addresses. */
const wild = (characters: number): string => '"<'.repeat(characters / 2);
const encoded = (characters: number): string => encodeURIComponent(wild(characters));

const partnerId = (at: number): string => `${'p'.repeat(60)}${at}`;

/** Everything that people, partners and the tracker can write, as long as it may be. */
async function openFullPortal() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const settings = {
    scheme: 'signature-v3' as const,
    requireBearer: true,
    secrets: secretsOf('one', 'two', 'three'),
  };
  const ids = Array.from({ length: 40 }, (_, at) => partnerId(at));
  const { partners, deliver, work } = buildPartners({
    clock,
    database,
    filler: { status: () => ({ state: 'complete', issues: 1 }) } as unknown as DirectoryFiller,
    partners: Object.fromEntries(ids.map((id) => [id, settings])),
  });
  const access = buildAccess({ clock, database });
  const claims = createClaimStore(database, { repository: REPOSITORY });
  const cursors = createCursorSealer(Buffer.alloc(32, 1));
  const refused = { kind: 'refused', detail: 'x', count: 9, lastAt: clock.now() } as const;
  const context = pagesContext({
    access,
    partners,
    leadFeed: {
      follower: async () => ({ readAt: clock.now(), behindSince: 1 }),
      newestAt: async () => clock.now(),
      listeners: () => 9,
    },
    claimedLeads: createClaimedLeads({ claims, cursors, clock }),
    traffic: { read: async () => [{ sender: TRACKER, ...refused }] },
    tracker: {
      quota: () => ({ limit: 5000, remaining: 1, resetAt: clock.now() }),
      lastFailure: () => ({ cause: wild(200), at: clock.now() }),
      hasWebhookSecret: () => false,
      labels: async () => Array.from({ length: 30 }, (_, at) => `${wild(46)}${at}`),
      issueAddress: (number: string) =>
        `https://tracker.example.com/${'a'.repeat(100)}/issues/${number}`,
    },
    readiness: async () => ({
      checks: Object.fromEntries(
        ['store', 'tracker', 'worker', 'directory', 'issuer', 'processes'].map((name) => [
          name,
          { isReady: true, state: 'failing', detail: wild(200) },
        ]),
      ),
    }),
    hasReadyz: true,
    defaultLimit: () => 600,
    portalClientId: 'portal',
    publicUrl: () => `https://${'a'.repeat(200)}.example.com`,
  });
  const portal = startPortal(
    (routes) => {
      overviewPages(routes, context);
      consumerPages(routes, context);
      receiptPages(routes, context);
      partnerPages(routes, context);
      auditPages(routes, context);
    },
    { clock },
  );
  const who = { principal: principalOf(wild(200)), name: wild(200) };
  const admin = await portal.signIn(undefined, who);
  const consumerId = await addConsumers(access);
  const batch = Array.from({ length: 40 }, (_, at) => ({
    eventId: wild(200) + at,
    externalId: wild(200) + at,
    eventType: wild(200),
    leadId: String(100_000 + at),
  }));
  const { receipt } = await deliver(batch, { from: partnerId(1) });
  for (let at = 0; at < 60; at += 1)
    await deliver({ ...batch[0], eventId: `e-${at}` }, { from: partnerId(0) });
  for (const item of await work.lease('match', clock.now(), 200))
    await work.settle(
      item,
      { attempts: 11, outcome: 'FAILED', lastError: 'too-many-comments' },
      clock.now(),
    );
  return { admin, portal, consumerId, receiptId: receipt.id };
}

const principalOf = (subject: string) => ({
  subject,
  clientId: 'portal',
  scopes: ['trackport:admin', 'catalog:read', 'catalog:write', 'catalog:publish'],
  workspaceId: 'w'.repeat(64),
});

async function addConsumers(access: Access): Promise<string> {
  const subject = wild(256);
  const by = { ...origin, actor: { kind: 'cli', subject } as const };
  const labels = Array.from({ length: 10 }, (_, at) => `${wild(46)}${at}`);
  const grants = [{ action: 'leads:read' as const, labels }];
  const ids = [];
  for (let at = 0; at < 40; at += 1) {
    const { consumer } = await access.consumers.create({ name: `${wild(196)}${at}`, grants }, by);
    ids.push(consumer.id);
  }
  const [id = ''] = ids;
  for (let at = 0; at < 60; at += 1) {
    const { issued } = await access.keys.add({ id }, by);
    if (at < 41) await access.keys.revoke({ id, keyId: issued.stored.keyId }, by);
  }
  return id;
}

test('no page of the longest texts is more than 50 KB with everything', async () => {
  const { admin, portal, consumerId, receiptId } = await openFullPortal();
  const filters = `externalId=${encoded(254)}&eventId=${encoded(254)}&correlationId=${encoded(254)}`;
  const consumer = `/portal/consumers/${consumerId}`;
  const { body } = await admin.get(consumer);
  const [, keyId = ''] = /keys\/([^/]+)\/rotate/.exec(body) ?? [];
  const filtered = `/portal/receipts?partnerId=${partnerId(0)}&from=2026-01-01`;
  const read = [
    '/portal',
    '/portal/consumers',
    `/portal/consumers?q=${encoded(254)}`,
    '/portal/consumers/new',
    consumer,
    `${consumer}/revoke`,
    `${consumer}/keys/new`,
    `${consumer}/keys/${keyId}/rotate`,
    `${consumer}/keys/${keyId}/revoke`,
    '/portal/receipts',
    filtered,
    `/portal/receipts?${filters}`,
    `/portal/receipts/replay?partnerId=${partnerId(0)}`,
    `/portal/receipts/replay?${filters}`,
    `/portal/receipts/${receiptId}`,
    `/portal/receipts/${receiptId}?start=20`,
    '/portal/claims/100000',
    '/portal/claims/100000/release',
    '/portal/claims/7',
    '/portal/partners',
    '/portal/audit',
    `/portal/audit?who=${encoded(256)}&on=${encoded(256)}`,
    '/portal/nothing',
    `/portal/audit?from=${encoded(2000)}&what=${encoded(600)}`,
    `/portal/nothing/${encoded(1000)}?x=${encoded(1000)}`,
    `/portal/time-zone?returnTo=${encodeURIComponent(`/portal/audit?on=${encoded(300)}`)}`,
  ];
  const label = Array.from({ length: 300 }, (_, at) => `${wild(46)}${at}`);
  const unnamed = { sees: 'labels', lifetime: '90', limitPerMinute: wild(300), label };
  const sent: [string, Record<string, string | string[]>][] = [
    ['/portal/consumers/new', { ...unnamed, name: wild(5000) }],
    [`${consumer}/grants`, { ...unnamed, seen: wild(300) }],
    [`${consumer}/name`, { name: wild(5000) }],
    [`${consumer}/limit`, { limitPerMinute: wild(5000) }],
    [`${consumer}/revoke`, { typed: wild(5000) }],
    ['/portal/claims/100000/release', { typed: wild(5000) }],
    ['/portal/receipts/replay', { typed: wild(5000), partnerId: partnerId(0) }],
    ['/portal/receipts/replay', { typed: '1', eventId: wild(5000), from: wild(5000) }],
    ['/portal/time-zone', { timeZone: wild(5000), returnTo: wild(5000) }],
    ['/portal/nothing', { a: wild(5000) }],
  ];
  const nobody = portal.browser();
  const to = encodeURIComponent(`/portal/audit?on=${encoded(300)}`);
  const lone = [
    `/portal/sign-in?to=${to}`,
    '/portal/signed-out',
    '/portal/callback?state=x',
    '/portal/%zz',
  ];
  const sizes: [string, number][] = [];
  const note = async (name: string, page: PortalResponse): Promise<void> => {
    expect(page.body).toContain('</html>');
    sizes.push([name.slice(0, 80), await bytesOf(nobody, page)]);
  };
  for (const path of read) await note(path, await admin.get(path));
  for (const [path, fields] of sent) await note(`POST ${path}`, await admin.post(path, fields));
  for (const path of lone) await note(path, await nobody.get(path));
  expect(sizes.filter(([, bytes]) => bytes > PAGE_BYTES_MAX)).toEqual([]);
  expect((await admin.get(filtered)).body).toContain('>Older');
});
