/** A certificate about those who could read a lead says what is known, and never more. */
import { expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { type FeedWorld, openFeedWorld } from '../client/support.ts';
import { sendDeletion } from '../support/world.ts';

type Event = CertificateClaims['events'][number];

const origin = { actor: { kind: 'system', subject: 'test' } } as const;

/** A consumer, and how it reads the feed. */
async function consumer({ service }: FeedWorld, name: string, labels?: string[]) {
  const grants = [{ action: 'leads:read', ...(labels && { labels }) }];
  const created = await service.service.access.consumers.create({ name, grants }, origin);
  const headers = { 'x-api-key': created.issued.key.reveal() };
  let cursor: string | undefined;
  const read = async (query = '', method = 'GET'): Promise<string[]> => {
    const from = cursor === undefined ? query : `cursor=${encodeURIComponent(cursor)}`;
    const address = `${service.url}/api/v1/leads/changes?limit=500&${from}`;
    const response = await fetch(address, { headers, method });
    if (method === 'HEAD') return [];
    const { items, pagination } = (await response.json()) as {
      items: { type: string; id: string }[];
      pagination: { nextCursor: string; hasMore: boolean };
    };
    cursor = pagination.nextCursor;
    const rest = pagination.hasMore ? await read() : [];
    return [...items.map(({ type, id }) => `${type} ${id}`), ...rest];
  };
  return { id: created.consumer.id, read, follow: () => read('from=start') };
}

/** Deletes a lead; reads what its certificate says then. */
async function remove(world: FeedWorld, leadId: string): Promise<() => Promise<Event>> {
  const answer = await sendDeletion(world.service.url, { leadId });
  const address = new URL(answer.headers.get('location') ?? '', world.service.url);
  const read = async (): Promise<Event> => {
    const response = await fetch(address, { headers: { accept: 'application/jwt' } });
    const [event] = decodeJwt<CertificateClaims>(await response.text()).events;
    if (!event) throw new Error('no event');
    return event;
  };
  await eventually(async () => {
    await world.service.clock.advance(1000);
    expect((await read()).outcome).toBe('DONE');
  });
  return read;
}

async function openWorld() {
  const world = await openFeedWorld();
  const lead = world.lead('eu');
  await world.tracker.hooks.settled();
  const follower = await consumer(world, 'follower');
  expect(await follower.follow()).toEqual([`lead.changed ${lead}`]);
  return { world, lead, follower };
}

/** The world's own consumer could read everything, too, and follows nothing. */
const OWN = 1;

test('whoever follows is past a removal once it was sent that, and not before', async () => {
  const { world, lead, follower } = await openWorld();
  const certificate = await remove(world, lead);
  const before = (await certificate()).readers;
  expect(before).toEqual({ couldRead: OWN + 1, following: 1, past: 0 });
  await follower.read('', 'HEAD');
  expect((await certificate()).readers).toEqual(before);
  const at = new Date(world.service.clock.now()).toISOString().replace('.000Z', 'Z');
  expect(await follower.read()).toEqual([`lead.removed ${lead}`]);
  await world.service.clock.advance(2000);
  await eventually(async () =>
    expect((await certificate()).readers).toEqual({ ...before, past: 1, lastPastAt: at }),
  );
  await follower.read();
  expect((await certificate()).readers?.lastPastAt).toBe(at);
});

test('who begins behind a removal was not told it; who begins with a copy of all has none of it', async () => {
  const { world, lead } = await openWorld();
  const late = await consumer(world, 'late');
  const anew = await consumer(world, 'anew');
  const certificate = await remove(world, lead);
  await late.read();
  await anew.follow();
  await eventually(async () =>
    expect((await certificate()).readers).toMatchObject({
      couldRead: OWN + 3,
      following: 3,
      past: 1,
    }),
  );
  await late.read();
  expect((await certificate()).readers).toMatchObject({ past: 1 });
});

test('only who could ever read the lead counts, and whoever may no more does not follow', async () => {
  const { world, lead, follower } = await openWorld();
  const { consumers } = world.service.service.access;
  const inEurope = await consumer(world, 'eu', ['EU']);
  const elsewhere = await consumer(world, 'us', ['us']);
  const narrowed = await consumer(world, 'narrowed');
  const gone = await consumer(world, 'gone');
  for (const one of [inEurope, elsewhere, narrowed, gone]) await one.follow();
  await world.service.clock.advance(1000);
  await consumers.replaceGrants(
    { id: narrowed.id, grants: [{ action: 'leads:read', labels: ['us'] }] },
    origin,
  );
  await consumers.revoke({ id: gone.id }, origin);
  const certificate = await remove(world, lead);
  const later = await consumer(world, 'later');
  for (const one of [inEurope, elsewhere, later, follower]) await one.read();
  await eventually(async () =>
    expect((await certificate()).readers).toMatchObject({
      couldRead: OWN + 4,
      following: 2,
      past: 2,
    }),
  );
});

test('of a lead that an operator gave back nothing is said but that', async () => {
  const { world, lead, follower } = await openWorld();
  const certificate = await remove(world, lead);
  await follower.read();
  const { claimedAt } = await certificate();
  expect(claimedAt).toBeDefined();
  const { releaseClaim } = await import('#partners/receipts/release-claim.ts');
  const { store } = world.service.service;
  await world.service.clock.advance(1000);
  await releaseClaim(store.leadsBy(world.service.clock), lead, origin);
  const event = await certificate();
  const releasedAt = new Date(world.service.clock.now()).toISOString().replace('.000Z', 'Z');
  expect(event).toMatchObject({ outcome: 'DONE', claimedAt, releasedAt });
  expect(event).not.toHaveProperty('readers');
});
