import { describe, expect, test } from 'vitest';
import { verifyCertificate } from '#adapters/jose/certificates.ts';
import { readClaim } from '#leads/claims/claimed-leads.ts';
import type { PartState } from '#shared/outcomes/health.ts';
import { DAY } from '#shared/clock.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { purgeReceipts } from '#partners/receipts/purge-receipts.ts';
import type { Readiness } from '#http/routes/operations.ts';
import type { Settlement } from '#partners/worker/settle-event.ts';
import type { PortalContext } from '#portal/context.ts';
import { portalPages } from '#portal/portal.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { settleEvent } from '../../../support/partners.ts';
import { openWorld } from '../../../support/world.ts';

/** The pages of receipts and claims over partners on a store, without a worker. */
async function openReceiptPages(checks: Readiness['checks'] = {}) {
  const issueAddress = (number: string) =>
    `https://tracker.example.com/acme/leads/issues/${number}`;
  const readiness: PortalContext['readiness'] = async () => ({ checks });
  const tracker = { issueAddress };
  const context = { tracker, readiness };
  const world = openWorld({ clock: createFakeClock(), pages: portalPages, context });
  const { clock, portal, work } = world;
  return {
    ...world,
    admin: await portal.signIn(),
    /** Ends all events that wait, as the worker would. */
    settle: async (settlement: Omit<Settlement, 'attempts'>) => {
      for (const item of await leaseEvents(work, 'match', { now: clock.now(), limit: 100 }))
        await settleEvent(work, item, { attempts: 11, ...settlement }, clock.now());
    },
  };
}

const rowsOf = (body: string): number => body.match(/<th role="rowheader"/g)?.length ?? 0;

test('receipts are shown by pages, each once, the filters kept', async () => {
  const { admin, deliver } = await openReceiptPages();
  for (let at = 0; at < 35; at += 1) await deliver({ eventId: `e-${at}`, email: 'a@example.com' });
  await deliver({ eventId: 'other', email: 'a@example.com' }, { from: 'crm-two' });
  const first = await admin.get('/portal/receipts?partnerId=crm-one');
  expect(rowsOf(first.body)).toBe(25);
  const [, older = ''] = /href="([^"]+)"[^>]*>Older/.exec(first.body) ?? [];
  const second = await admin.get(older.replaceAll('&amp;', '&'));
  expect(rowsOf(second.body)).toBe(10);
  expect(second.body).not.toContain('>Older');
});

test('what has all ended well is not offered for a replay', async () => {
  const { admin, deliver, settle } = await openReceiptPages();
  await deliver({ eventId: 'e-1', email: 'a@example.com' });
  await settle({ outcome: 'DONE' });
  for (const filter of ['outcome=DONE', 'status=PROCESSED', 'outcome=IGNORED']) {
    const { status, body } = await admin.get(`/portal/receipts?${filter}`);
    expect([status, body.includes('Replay all')]).toEqual([200, false]);
  }
  const { body } = await admin.get('/portal/receipts?partnerId=crm-one');
  expect(body).toContain('Replay all that match…');
});

test('a wrong filter says so, an empty form is none', async () => {
  const { admin, deliver } = await openReceiptPages();
  await deliver({ eventId: 'e-1', email: 'a@example.com' });
  const right = await admin.get('/portal/receipts?partnerId=crm-one');
  expect(right.body).toContain('/portal/receipts/replay?partnerId=crm-one');
  for (const [wrong, why, name, value] of [
    ['status=DONE', '`status` must be one of', 'status'],
    ['by=leadId&id=abc', '`id` must be the number of an issue', 'id', 'abc'],
    ['leadId=abc', '`leadId` must be the number of an issue', 'id', 'abc'],
    ['from=2026-02-30', '`from` must be a day', 'from', '2026-02-30'],
    ['colour=red', '`colour` is not known here'],
  ] as const) {
    const { status, body } = await admin.get(`/portal/receipts?partnerId=crm-one&${wrong}`);
    expect([status, body]).toEqual([
      400,
      expect.stringContaining(`Shown without a filter that is wrong: ${why}`),
    ]);
    expect(body).not.toContain('/portal/receipts/replay');
    // The list is there, by the filter that is right, and the form to mend the other one.
    expect(body).toMatch(/name="partnerId"[^>]*value="crm-one"|value="crm-one"/);
    expect(body).toContain('<title>Error: ');
    const [field = ''] = new RegExp(`<(?:input|select)[^>]* name="${name}"[^>]*>`).exec(body) ?? [];
    if (name !== undefined) {
      expect(field).toContain(`aria-invalid="true" aria-describedby="${name}-error"`);
      expect(body).toContain(`<p class="error" id="${name}-error">${why}`);
    }
    if (value !== undefined) expect(field).toContain(` value="${value}"`);
  }
  expect(await admin.get('/portal/receipts/replay?status=DONE')).toMatchObject({ status: 400 });
  expect(await admin.get('/portal/receipts?cursor=made-up')).toMatchObject({ status: 400 });
  const form = 'partnerId=&status=&outcome=&from=&to=&by=leadId&id=';
  expect(await admin.get(`/portal/receipts?${form}`)).toMatchObject({ status: 200 });
});

const formActions = (body: string): string[] =>
  [...body.matchAll(/action="([^"]+)"/g)].map(([, action = '']) => action);

type Admin = Awaited<ReturnType<typeof openReceiptPages>>['admin'];

/** Sends a form and opens the page that it leads to. */
async function submit(admin: Admin, path: string, fields: Record<string, string> = {}) {
  const { status, location = '' } = await admin.post(path, fields);
  expect(status).toBe(303);
  return { path: location.split('?')[0], body: (await admin.get(location)).body };
}

/** Text of the page about an action that did nothing. */
const undoneIn = (body: string): string | undefined =>
  /data-s="warn" role="status">\s*<strong>([^<]*)/.exec(body)?.[1];

describe('one receipt', () => {
  test.each<[string, unknown, string]>([
    ['what is under way', { eventId: 'e-1', leadId: '24' }, 'under way already'],
    ['what could not be used', [7], '1 rejected'],
    ['no event at all', [], 'no event failed or found nobody'],
  ])('with nothing to replay but %s says so when a replay is sent', async (_, sent, reason) => {
    const { admin, deliver } = await openReceiptPages();
    const { receipt } = await deliver(sent);
    const { body } = await submit(admin, `/portal/receipts/${receipt.id}/replay`);
    expect(undoneIn(body)).toMatch(/^Nothing was replayed/);
    expect(undoneIn(body)).toContain(reason);
  });

  test('that could not be used is acknowledged by its button, once, and audited', async () => {
    const { admin, deliver, access } = await openReceiptPages();
    const { receipt } = await deliver([7, 8]);
    const path = `/portal/receipts/${receipt.id}`;
    const open = '/portal/receipts?outcome=REJECTED&acknowledged=no';
    expect(formActions((await admin.get(path)).body)).toContain(`${path}/acknowledge`);
    expect(rowsOf((await admin.get(open)).body)).toBe(1);
    const { body } = await submit(admin, `${path}/acknowledge`);
    expect(body).toContain('2 events acknowledged');
    expect(formActions(body)).not.toContain(`${path}/acknowledge`);
    expect(rowsOf((await admin.get(open)).body)).toBe(0);
    const twice = await submit(admin, `${path}/acknowledge`);
    expect(undoneIn(twice.body)).toContain('nothing to acknowledge');
    const { items } = await access.listAudit({ filter: {}, limit: 5 });
    expect(items).toMatchObject([
      { action: 'receipt.acknowledge', actor: { subject: 'operator-1' } },
    ]);
    expect(await admin.post('/portal/receipts/nothing/acknowledge')).toMatchObject({ status: 404 });
  });

  test('of many events is shown by pages', async () => {
    const { admin, deliver } = await openReceiptPages();
    const events = Array.from({ length: 45 }, (_, at) => ({
      eventId: `e-${at}`,
      leadId: `${at + 1}`,
    }));
    const { receipt } = await deliver(events);
    const path = `/portal/receipts/${receipt.id}`;
    const first = await admin.get(path);
    expect(first.body.match(/<article/g)).toHaveLength(20);
    expect(first.body.length).toBeLessThan(50_000);
    expect(first.body).toContain(`${path}?start=20`);
    const last = await admin.get(`${path}?start=40`);
    expect(last.body.match(/<article/g)).toHaveLength(5);
    expect(last.body).toContain('Events 41 to 45 of 45');
  });

  test('its address for the partner works without a session until it is too old', async () => {
    const { admin, deliver, clock } = await openReceiptPages();
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const path = `/portal/receipts/${receipt.id}`;
    expect((await admin.get(path)).body).toContain('/api/v1/receipt-status/');
    await clock.advance(30 * DAY);
    expect((await admin.get(path)).body).not.toContain('/api/v1/receipt-status/');
  });

  test('its certificate is a file, and holds', async () => {
    const { admin, deliver, partners } = await openReceiptPages();
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const path = `/portal/receipts/${receipt.id}`;
    expect((await admin.get(path)).body).toContain(`href="${path}/certificate"`);
    const file = await admin.get(`${path}/certificate`);
    expect(file.headers).toMatchObject({
      'content-type': 'application/jwt',
      'content-disposition': `attachment; filename="receipt-${receipt.id}.jwt"`,
    });
    const verdict = await verifyCertificate(file.body, await partners.certificates.keys());
    expect(verdict).toMatchObject({ isGood: true, claims: { jti: receipt.id } });
  });
});

describe('what is under way', () => {
  const since = '2026-11-21T13:31:00.000Z';
  const check = (state: PartState, detail: string) => ({ isReady: true, state, detail });
  const paused = `The tracker does not let us write: unauthorized. Paused since ${since}.`;
  const failing = `Calls have failed since ${since}. Last cause: server (503).`;

  test.each([
    ['a paused worker', { worker: check('paused', paused) }, 'Replace tracker.auth'],
    ['a tracker that fails', { tracker: check('failing', failing) }, 'See its status page'],
  ])('says since when and why it waits for %s, and the next step', async (_what, checks, step) => {
    const { admin, deliver } = await openReceiptPages(checks);
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const { body } = await admin.get(`/portal/receipts/${receipt.id}`);
    expect(body).toContain(`datetime="2026-11-21T13:31:00Z"`);
    expect(body).toContain(step);
    expect(body).not.toContain('It is worked on now');
  });

  test('says that it is worked on where nothing holds it up', async () => {
    const checks = { worker: check('standby', ''), tracker: check('ok', '') };
    const { admin, deliver } = await openReceiptPages(checks);
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const { body } = await admin.get(`/portal/receipts/${receipt.id}`);
    expect(body).toContain('It is worked on now');
  });
});

describe('a wrong claim', () => {
  test('is found by the number of its lead, also when no receipt tells of it any more', async () => {
    const { admin } = await openReceiptPages();
    for (const search of ['leadId=24', 'by=leadId&id=%2324']) {
      const { body } = await admin.get(`/portal/receipts?${search}`);
      expect(body).toContain('href="/portal/claims/24">Does a deletion hide #24?');
    }
    expect((await admin.get('/portal/receipts?outcome=DONE')).body).not.toContain(
      'Does a deletion hide',
    );
  });

  test('is released from the receipt by the typed number of its lead', async () => {
    const { admin, deliver, claimedLeads, access } = await openReceiptPages();
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const page = await admin.get(`/portal/receipts/${receipt.id}`);
    expect(page.body).toContain('href="/portal/claims/24/release"');
    const confirm = await admin.get('/portal/claims/24/release');
    expect(confirm.body).toContain('Type the number of the lead: 24');
    const wrong = await admin.post('/portal/claims/24/release', { typed: '25' });
    expect(wrong).toMatchObject({ status: 422 });
    expect(wrong.body).toContain('This is not the number of the lead.');
    expect((await readClaim(claimedLeads, '24')).receiptIds).toEqual([receipt.id]);
    const released = await submit(admin, '/portal/claims/24/release', { typed: '#24' });
    expect(released.path).toBe('/portal/claims/24');
    expect(released.body).toContain('Lead 24 was released');
    await expect(readClaim(claimedLeads, '24')).rejects.toMatchObject({ code: 'not-found' });
    expect(released.body).toContain('No deletion hides this lead');
    const { items } = await access.listAudit({ filter: { subject: 'claim/24' }, limit: 5 });
    expect(items).toMatchObject([{ action: 'claim.release', actor: { subject: 'operator-1' } }]);
  });

  test('is found in the list of what deletions hide, with since when, by what, and a way back', async () => {
    const { admin, deliver } = await openReceiptPages();
    expect((await admin.get('/portal/claims')).body).toContain('No deletion hides a lead');
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    const { body } = await admin.get('/portal/claims');
    expect(body).toMatch(/href="\/portal\/claims\/24">#24<.*<time [^>]*data-style="second">/s);
    expect(body).toContain(`href="/portal/receipts/${receipt.id}"`);
    expect(body).toContain('href="/portal/claims/24/release"');
    expect(body).toContain('href="/portal/claims" aria-current="page"');
  });

  test('that was released already says so, in both tabs', async () => {
    const { admin } = await openReceiptPages();
    const twice = await admin.post('/portal/claims/24/release', { typed: '24' });
    expect(twice).toMatchObject({ status: 404 });
    expect((await admin.get('/portal/claims/24/release')).body).not.toContain('name="typed"');
    expect(await admin.get('/portal/claims/x')).toMatchObject({ status: 404 });
  });
});

describe('all that match', () => {
  const failedOf = '/portal/receipts/replay?partnerId=crm-one&outcome=FAILED';

  test('are worked again after their number was typed, and no others', async () => {
    const { admin, deliver, settle, receipts } = await openReceiptPages();
    const one = await deliver({ eventId: 'e-1', leadId: '24' });
    const two = await deliver({ eventId: 'e-2', leadId: '25' });
    const other = await deliver({ eventId: 3, objectId: 7 }, { from: 'crm-two' });
    await settle({ outcome: 'FAILED', lastError: 'locked' });
    const list = await admin.get('/portal/receipts?partnerId=crm-one&outcome=FAILED');
    expect(list.body).toContain(`href="${failedOf.replace('&', '&amp;')}"`);
    const confirm = await admin.get(failedOf);
    expect(confirm.body).toContain('Type the number of events: 2');
    expect(confirm.body).toContain('partner crm-one, an event is Failed.');
    const form = { partnerId: 'crm-one', outcome: 'FAILED', typed: '3' };
    const wrong = await admin.post('/portal/receipts/replay', form);
    expect(wrong).toMatchObject({ status: 422 });
    expect(wrong.body).toContain('This is not the number of events that match now: 2.');
    expect(wrong.body).toContain('name="partnerId" value="crm-one"');
    const done = await submit(admin, '/portal/receipts/replay', { ...form, typed: '2' });
    expect(done.path).toBe('/portal/receipts');
    expect(done.body).toContain('2 events queued: work begins now.');
    const statuses = [one, two, other].map(
      async ({ receipt }) => (await readReceipt(receipts.db, receipt.id))?.status,
    );
    expect(await Promise.all(statuses)).toEqual(['ACCEPTED', 'ACCEPTED', 'FAILED']);
  });

  test('that lost what they said stay, and are counted', async () => {
    const { admin, deliver, settle, receipts, clock } = await openReceiptPages();
    await deliver({ eventId: 'e-1', leadId: '24' });
    await settle({ outcome: 'FAILED', lastError: 'locked' });
    await purgeReceipts(receipts.db, clock.now() + 1);
    const { body } = await admin.get(failedOf);
    expect(body).toContain('Nothing to replay');
    expect(body).toContain('1 more cannot be worked again');
    expect(body).not.toContain('name="typed"');
  });

  test('are never all: without a filter it is neither offered nor done', async () => {
    const { admin, deliver, settle, receipts } = await openReceiptPages();
    const { receipt } = await deliver({ eventId: 'e-1', leadId: '24' });
    await settle({ outcome: 'FAILED', lastError: 'locked' });
    expect((await admin.get('/portal/receipts')).body).not.toContain('Replay all');
    const everything = await admin.post('/portal/receipts/replay', { typed: '1' });
    expect(everything.status).toBeGreaterThanOrEqual(400);
    expect((await readReceipt(receipts.db, receipt.id))?.status).toBe('FAILED');
  });
});
