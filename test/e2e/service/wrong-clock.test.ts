/** The whole service on a machine whose clock is half an hour off. */
import { signRequest } from '#partners/intake/signed-request.ts';
import { createPartner } from '#partners/partner.ts';
import { MINUTE } from '#shared/clock.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { migratedPostgres } from '../../support/postgres/database.ts';
import { compose, openLead, openTracker } from '../support/world.ts';

const SECRET = 'a-secret-of-crm-two';
const crmTwo = { scheme: 'signature-v3', secrets: [SECRET], fields: { leadId: '/leadId' } };

/** A tracker with a lead, whose clock is right. */
async function openTrackerWithLead() {
  const trackers = createFakeClock();
  const tracker = await openTracker({ clock: trackers });
  const { number } = openLead(tracker);
  return { tracker, trackers, number };
}

const settings = { partners: { 'crm-two': crmTwo } };

async function skewMinutes(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Math.round(Number(/^trackport_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1]) / 60);
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
    const { tracker, trackers, number } = await openTrackerWithLead();
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

test('half an hour behind: the lead feed counts by the clock of the tracker', async () => {
  const { tracker, trackers } = await openTrackerWithLead();
  const clock = createFakeClock(trackers.now() - 30 * MINUTE);
  const { url, get } = await compose({ apiUrl: tracker.url, clock, settings });
  await eventually(async () => expect(await skewMinutes(url)).toBe(30));
  const changes = async (cursor: string) =>
    (await (await get(`/api/v1/leads/changes?cursor=${cursor}`)).json()) as {
      items: { id: string; at: string }[];
      pagination: { nextCursor: string };
    };
  const begun = (await (await get('/api/v1/leads/changes')).json()) as {
    pagination: { nextCursor: string };
  };
  const { number } = openLead(tracker, { email: 'b@example.org' });
  const openedAt = trackers.now();
  const item = await eventually(async () => {
    await Promise.all([clock, trackers].map((one) => one.advance(MINUTE)));
    const { items } = await changes(begun.pagination.nextCursor);
    return items.find(({ id }) => id === `${number}`) ?? expect.fail('it is not there yet');
  });
  expect(Date.parse(item.at)).toBeGreaterThan(openedAt - MINUTE);
});

test('an instance that stands by knows the time of the tracker, though it asks it nothing else', async () => {
  const { tracker, trackers, number } = await openTrackerWithLead();
  const clock = createFakeClock(trackers.now() - 30 * MINUTE);
  const store = { url: (await migratedPostgres()).url };
  const secretKey = Buffer.alloc(32, 9).toString('base64');
  const options = { apiUrl: tracker.url, clock, settings: { ...settings, store, secretKey } };
  await compose(options);
  const { url, logText } = await compose(options);
  expect(logText()).toContain('this one stands by');
  await eventually(async () => expect(await skewMinutes(url)).toBe(30));
  expect((await sendSigned(url, number, trackers.now())).status).toBe(202);
});
