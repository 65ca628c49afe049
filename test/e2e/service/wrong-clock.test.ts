/** The whole service on a machine whose clock is half an hour off. */
import { startTracker } from '#sandbox/tracker/tracker.ts';
import { signRequest } from '#partners/intake/signed-request.ts';
import { createPartner } from '#partners/partner.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { Secret } from '#shared/crypto/secret.ts';
import type { Database } from '#adapters/postgres/connection/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { connectToPostgres, migratedPostgres } from '../../support/postgres/database.ts';
import { compose, TRACKER_TOKEN } from '../support/composed.ts';
import { openLead } from '../support/world.ts';

const SECRET = 'a-secret-of-crm-two';
const crmTwo = { scheme: 'signature-v3', secrets: [SECRET], fields: { leadId: '/leadId' } };

/** A tracker with a lead, whose clock is right. */
async function openTracker() {
  const trackers = createFakeClock();
  const tracker = await startTracker({
    clock: trackers,
    tokens: [{ token: TRACKER_TOKEN, can: 'write' }],
  });
  onTestFinished(() => tracker.close());
  for (const name of ['approved', 'deleted-by-partner']) tracker.createLabel({ name });
  const { number } = openLead(tracker);
  return { tracker, trackers, number };
}

const settings = { partners: { 'crm-two': crmTwo } };

async function skewMinutes(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Math.round(Number(/^trackport_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1]) / 60);
}

/** Time for a renewal of the lease, and the renewal, which takes real time: or the other one takes over. */
async function advanceOneRenewal(clock: FakeClock, store: Database): Promise<void> {
  const until = () => store.get('SELECT until::text AS until FROM worker_lease');
  const before = await until();
  for (let seconds = 0; seconds < 6; seconds += 1) await clock.advance(SECOND);
  await eventually(async () => expect(await until()).not.toEqual(before));
}

/** Two instances on one store, of which the second stands by. */
async function composeTwo(apiUrl: string, clock: FakeClock, own: object) {
  const { url: storeUrl } = await migratedPostgres();
  const secretKey = Buffer.alloc(32, 9).toString('base64');
  const options = { apiUrl, clock, settings: { ...own, store: { url: storeUrl }, secretKey } };
  await compose(options);
  const second = () => compose(options);
  return { second, store: await connectToPostgres({ url: storeUrl }) };
}

/** Sends a deletion that was signed at `now`. */
function sendSigned(url: string, leadId: number, now: number): Promise<Response> {
  const uri = `${url}/api/v1/webhooks/partners/crm-two/deletions`;
  const body = Buffer.from(JSON.stringify({ leadId }));
  const partner = createPartner('crm-two', {
    scheme: 'signature-v3',
    secrets: [{ value: new Secret(SECRET) }],
  });
  const headers = signRequest(partner, { uri, body, id: '' }, now) ?? {};
  return fetch(uri, { method: 'POST', headers, body });
}

test.each([
  ['behind', -30 * MINUTE],
  ['ahead', 30 * MINUTE],
])(
  'half an hour %s: a signed deletion is taken and done, and people hear of it',
  async (_, off) => {
    const { tracker, trackers, number } = await openTracker();
    const own = createFakeClock(trackers.now() + off);
    const { url, clock, logText } = await compose({ apiUrl: tracker.url, clock: own, settings });
    await eventually(async () => expect(await skewMinutes(url)).toBe(-off / MINUTE));
    const lines = logText().split('\n');
    expect(lines.filter((line) => line.includes("machine's clock is not"))).toHaveLength(1);

    const answer = await sendSigned(url, number, trackers.now());
    expect(answer.status).toBe(202);
    const { receivedAt } = (await answer.json()) as { receivedAt: string };
    expect(Math.abs(Date.parse(receivedAt) - trackers.now())).toBeLessThan(MINUTE);
    await eventually(async () => {
      await Promise.all([clock, trackers].map((one) => one.advance(200)));
      expect(tracker.readIssue(number)?.state).toBe('closed');
    });
  },
);

test.each([['once', settings, 1] as const, ['never where there are no partners', {}, 0] as const])(
  'an instance that stands by asks the tracker for its time: %s',
  async (_often, own, calls) => {
    const { tracker, trackers } = await openTracker();
    const clock = createFakeClock(trackers.now());
    const { second, store } = await composeTwo(tracker.url, clock, own);
    await eventually(() => expect(tracker.calls.count({ path: /issues$/ })).toBe(calls));
    tracker.calls.clear();
    const { url, logText } = await second();
    expect(logText()).toContain('this one stands by');
    // The answer takes real time, and half a minute without one is a reason to ask again.
    if (calls > 0) await eventually(async () => expect(await skewMinutes(url)).toBe(0));
    for (let rounds = 0; rounds < 6; rounds += 1) await advanceOneRenewal(clock, store);
    await eventually(() => expect(tracker.calls.count()).toBe(calls));
  },
);

test('an instance that stands by knows the time of the tracker, though it asks it nothing else', async () => {
  const { tracker, trackers, number } = await openTracker();
  const clock = createFakeClock(trackers.now() - 30 * MINUTE);
  const { url } = await (await composeTwo(tracker.url, clock, settings)).second();
  await eventually(async () => expect(await skewMinutes(url)).toBe(30));
  expect((await sendSigned(url, number, trackers.now())).status).toBe(202);
});
