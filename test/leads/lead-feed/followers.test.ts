import { expect, test } from 'vitest';
import { createFeedCursors } from '#leads/lead-feed/feed-cursors.ts';
import { createLeadFeed } from '#leads/lead-feed/lead-feed.ts';
import type { FollowerNote } from '#leads/lead-feed/followers.ts';
import type { LeadChange } from '#leads/lead-feed/lead-change.ts';
import { HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock, whileTimePasses } from '../../support/clock.ts';
import { someLead } from '../../support/http/leads.ts';
import { storeOfFeed } from '../support.ts';
import { keyOf } from '../../support/keys.ts';

const visibility = { consumerId: 'c', labels: ['EU'] };

type Leads = Parameters<typeof createLeadFeed>[0];

/** A feed over changes that a test names; every lead that is visible can be read. */
function openFeed(changes: LeadChange[], reader?: FollowerNote, log = silentLog) {
  const clock = createFakeClock();
  const lags: (number | undefined)[] = [];
  const looks = { count: 0 };
  let tell: () => void = () => undefined;
  const store = storeOfFeed({
    end: () => changes.at(-1)?.position ?? 0,
    changesAfter: (position) => {
      looks.count += 1;
      return changes.filter((one) => one.position > position);
    },
    reader,
    listen: (_channel, onChanged) => {
      tell = onChanged;
      return { close: async () => undefined };
    },
  });
  const claims = new Set<number>();
  const claimView = { current: async () => claims };
  const leads = { store, clock, claimView } as Partial<Leads> as Leads;
  const cursors = createCursorSealer(keyOf(1));
  const onItem = (lagMs?: number) => void lags.push(lagMs);
  const feed = createLeadFeed(leads, { cursors, log, onItem });
  return { feed, db: store.db, clock, lags, looks, claims, tell: () => tell() };
}

const removed = (position: number, labels: string[] = ['eu']): LeadChange => ({
  number: 1,
  position,
  changedAt: position,
  isVisible: false,
  updatedAt: position,
  labels,
  carried: ['', ...labels].map((label) => [label, position - 1, position]),
});

test('a consumer is behind by the oldest change of its own that it has not read', async () => {
  const now = createFakeClock().now();
  const reader = { consumerId: 'c', position: now - HOUR, readAt: now - MINUTE };
  const behind = async (...changes: LeadChange[]) =>
    (await openFeed(changes, reader).feed.follower(visibility))?.behindSince;
  const since = now - 3 * MINUTE;
  expect(await behind(removed(now - HOUR))).toBeUndefined();
  expect(await behind(removed(since), removed(now - MINUTE))).toBe(since);
  expect(await behind(removed(since, ['us']))).toBeUndefined();
  // Its place is noted every few seconds only.
  expect(await behind(removed(now - 20 * SECOND))).toBeUndefined();
  expect(await openFeed([]).feed.follower(visibility)).toBeUndefined();
});

test('a cursor holds also where the repository has a name that is not known yet', async () => {
  let end: number | undefined;
  const era = 5;
  const clock = createFakeClock();
  const sealer = createCursorSealer(keyOf(1));
  const identify = async () => void (end = 7);
  const leads = { store: storeOfFeed({ end: () => end, era }), clock, identify };
  const how = { cursors: sealer, log: silentLog, onItem: () => undefined };
  const feed = createLeadFeed(leads as Partial<Leads> as Leads, how);
  const position = { place: [7, Number.MAX_SAFE_INTEGER], era } as const;
  const cursor = createFeedCursors(sealer, clock).seal(position, visibility);
  const wait = { waitMs: 0, signal: new AbortController().signal };
  const { items } = await feed.read({ limit: 9, cursor, fromStart: false }, visibility, wait);
  expect(items).toEqual([]);
});

test('a stream is counted while it is open, and its lag once it had all', async () => {
  const now = createFakeClock().now();
  const changes = [removed(now - HOUR)];
  const { feed, clock, lags, tell } = openFeed(changes);
  const ending = new AbortController();
  const wait = { waitMs: 15 * SECOND, signal: ending.signal };
  const { cursor } = (await feed.follow({ limit: 9, fromStart: false }, visibility, wait).next())
    .value as { cursor: string };
  changes.push(removed(now - MINUTE));
  const events = feed.follow({ limit: 9, cursor, fromStart: false }, visibility, wait);
  const next = () => whileTimePasses(clock, events.next());
  await next();
  expect((await next()).value).toHaveProperty('item.type', 'lead.removed');
  await next();
  changes.push(removed(clock.now() - SECOND));
  tell();
  expect((await next()).value).toHaveProperty('item.type', 'lead.removed');
  expect(feed.listeners()).toBe(2);
  await next();
  expect(lags[0]).toBeUndefined();
  expect(lags[1]).toBeGreaterThanOrEqual(SECOND);
  ending.abort();
  await events.return();
  expect(feed.listeners()).toBe(1);
  expect(await feed.newestAt()).toBe(changes.at(-1)?.position);
});

test('who has all looks into the store for a change alone, and once for all at its place', async () => {
  const changes: LeadChange[] = [];
  const { feed, clock, looks, tell } = openFeed(changes);
  const ending = new AbortController();
  const wait = { waitMs: 15 * SECOND, signal: ending.signal };
  const streams = [1, 2].map(() => feed.follow({ limit: 9, fromStart: false }, visibility, wait));
  const next = () => whileTimePasses(clock, Promise.all(streams.map((one) => one.next())));
  for (let beats = 0; beats < 6; beats += 1) {
    if (beats === 3) looks.count = 0; // by then it knows where the changes end
    expect((await next()).map(({ value }) => value)).not.toHaveProperty('0.item');
    tell();
  }
  expect(looks.count).toBe(0);
  const waiting = Promise.all(streams.map((one) => one.next()));
  changes.push(removed(clock.now()));
  tell();
  expect((await waiting).map(({ value }) => value)).toMatchObject([{ item: {} }, { item: {} }]);
  expect(looks.count).toBe(1);
  ending.abort();
});

test('items lose the leads that were claimed since they were read, and keep what was removed', async () => {
  const { feed, claims } = openFeed([]);
  const at = '2026-03-01T10:00:00Z';
  const [one, two] = [1, 2].map((number) => {
    const lead = { ...someLead, id: String(number) };
    return { type: 'lead.changed' as const, id: lead.id, at, lead };
  });
  const gone = { type: 'lead.removed' as const, id: '1', at };
  const items = [one, two, gone].filter((item) => item !== undefined);
  expect(await feed.withoutClaimed(items)).toBe(items);
  claims.add(1);
  expect(await feed.withoutClaimed(items)).toEqual([two, gone]);
});

test('a store that takes no writes stops no read, and the log says so', async () => {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void warned.push(text) };
  const { feed, db, clock } = openFeed([], undefined, log);
  db.run = () => Promise.reject(new TrackportError('store-unavailable'));
  for (let read = 0; read < 2; read += 1) {
    const query = { limit: 1, fromStart: false };
    const { signal } = new AbortController();
    const page = feed.read(query, visibility, { waitMs: 0, signal });
    expect((await whileTimePasses(clock, page)).items).toEqual([]);
  }
  expect(warned).toEqual(['could not note who follows the lead feed']);
});
