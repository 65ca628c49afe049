/** Whatever is asked of the feed, its answers have a size, and others get their turn of the event loop. */
import { expect, onTestFinished, test } from 'vitest';
import { createFeedCursors } from '#leads/lead-feed/feed-cursors.ts';
import { createChangeSignal } from '#leads/lead-feed/change-signal.ts';
import { type FeedItem, renderFeedPage } from '#leads/lead-feed/feed-item.ts';
import { type LeadChange, nextChange } from '#leads/lead-feed/lead-change.ts';
import { MINUTE } from '#shared/clock.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createFakeClock, whileTimePasses } from '../../support/clock.ts';
import { turnsDuring } from '../../support/work/turns.ts';
import { createWorld, everybody } from '../support.ts';
import { keyOf } from '../../support/keys.ts';

const MIB = 1024 * 1024;
const LEADS = 120;
const signal = new AbortController().signal;

/** So many leads of 60 KB, each of which changed. */
async function openLongFeed(message = 'word '.repeat(12_000)) {
  const changes: LeadChange[] = [];
  const world = createWorld({
    feed: {
      end: () => changes.at(-1)?.position ?? 0,
      changesAfter: (position, limit) =>
        changes.filter((one) => one.position > position).slice(0, limit),
    },
  });
  const { tracker, clock } = world;
  const { feed } = { feed: world.leads.leadFeed };
  const read = (query: { cursor?: string; fromStart?: boolean } = {}) => {
    const asked = { limit: 500, fromStart: false, ...query };
    return whileTimePasses(clock, feed.read(asked, everybody, { waitMs: 0, signal }));
  };
  const { nextCursor: begin } = (await read()).pagination;
  for (let at = 0; at < LEADS; at += 1) {
    const { number, updatedAt } = tracker.open({ body: `### Message\n\n${message}` });
    const state = { number, isVisible: true, updatedAt, labels: ['approved'] };
    changes.push(nextChange(undefined, state, clock.now() + at + 1) as LeadChange);
  }
  await clock.advance(MINUTE);
  return { ...world, feed, read, begin };
}

test.each([
  [
    'what changed',
    async ({ begin }: Awaited<ReturnType<typeof openLongFeed>>) => ({ cursor: begin }),
  ],
  ['what there is', async () => ({ fromStart: true })],
])('a page of %s ends at about 1 MiB, and the next one goes on behind it', async (_of, first) => {
  const world = await openLongFeed();
  const ids: string[] = [];
  let query: Parameters<typeof world.read>[0] = await first(world);
  for (;;) {
    const page = await world.read(query);
    expect(renderFeedPage(page).length).toBeLessThan(1.1 * MIB);
    ids.push(...page.items.map(({ id }) => id));
    query = { cursor: page.pagination.nextCursor };
    if (ids.length >= LEADS) break;
    expect(page.items.length).toBeGreaterThan(10);
    expect(page.pagination.hasMore).toBe(true);
  }
  expect(new Set(ids).size).toBe(LEADS);
});

test('a lead that is longer than a page comes alone', async () => {
  const { read, begin } = await openLongFeed('\u0001'.repeat(200_000));
  const page = await read({ cursor: begin });
  expect(page.items).toHaveLength(1);
  expect(page.pagination.hasMore).toBe(true);
});

test('who asks for the same at the same time gets the same page, rendered once', async () => {
  const { read, begin } = await openLongFeed();
  const pages = await Promise.all(Array.from({ length: 20 }, () => read({ cursor: begin })));
  expect(new Set(pages.map(renderFeedPage)).size).toBe(1);
});

test('who reads by labels looks through old changes in turns, and goes on where that ended', async () => {
  const clock = createFakeClock();
  const limits: number[] = [];
  const ofOthers = Array.from({ length: 30_000 }, (_, at) => {
    const state = { number: at + 1, isVisible: true, updatedAt: 1, labels: ['approved'] };
    return nextChange(undefined, state, clock.now() + at) as LeadChange;
  });
  const feed = {
    end: () => clock.now() + 30_000,
    changesAfter: (position: number, limit: number) => {
      limits.push(limit);
      const at = Math.max(0, position - clock.now() + 1);
      return ofOthers.slice(at, at + limit);
    },
  };
  const { leads } = createWorld({ feed });
  const visibility = { consumerId: 'c', labels: ['eu'] };
  const cursors = createFeedCursors(createCursorSealer(keyOf(1)), clock);
  let cursor = cursors.seal({ place: [clock.now() - 1, 0] }, visibility);
  const read = () =>
    leads.leadFeed.read({ limit: 500, cursor, fromStart: false }, visibility, {
      waitMs: 0,
      signal,
    });
  const first = read();
  expect(await turnsDuring(first)).toBeGreaterThanOrEqual(8);
  ({ nextCursor: cursor } = (await first).pagination);
  expect((await first).pagination.hasMore).toBe(true);
  const second = await read();
  expect(second).toMatchObject({ items: [], pagination: { hasMore: false } });
  expect(new Set(limits)).toEqual(new Set([2000]));
});

test('a hundred streams from the start let others in between their events', async () => {
  const { feed, clock } = await openLongFeed('word');
  const hangUp = new AbortController();
  onTestFinished(() => hangUp.abort());
  const readAll = async (): Promise<FeedItem[]> => {
    const items: FeedItem[] = [];
    const wait = { waitMs: MINUTE, signal: hangUp.signal };
    for await (const { item } of feed.follow({ limit: 100, fromStart: true }, everybody, wait)) {
      if (item) items.push(item);
      if (items.length === LEADS) return items;
    }
    return items;
  };
  await whileTimePasses(clock, readAll()); // the tracker was asked
  const all = Promise.all(Array.from({ length: 100 }, readAll));
  expect(await turnsDuring(whileTimePasses(clock, all))).toBeGreaterThan(100);
});

test('a change that wakes a thousand listeners lets others in between', async () => {
  let tell: () => void = () => undefined;
  let position = 1;
  const changes = createChangeSignal({
    clock: createFakeClock(),
    readEnd: async () => [position, 0],
    db: {
      listen: (_channel, onChanged) => {
        tell = onChanged;
        return { close: async () => undefined };
      },
    },
  });
  onTestFinished(() => changes.close());
  const seen = changes.listen();
  const woken = Promise.all(Array.from({ length: 1000 }, () => changes.next(seen, MINUTE, signal)));
  position = 2;
  tell();
  expect(await turnsDuring(woken)).toBeGreaterThanOrEqual(15);
  expect(new Set(await woken)).toEqual(new Set([true]));
});

test('who hangs up within the first copy goes on behind the lead that came last', async () => {
  const { feed, clock } = await openLongFeed('word');
  const ids: string[] = [];
  let cursor: string | undefined;
  const listen = async ([events, limit]: [number, number]): Promise<void> => {
    const query = { limit, fromStart: cursor === undefined, ...(cursor && { cursor }) };
    let left = events;
    for await (const event of feed.follow(query, everybody, { waitMs: MINUTE, signal })) {
      ({ cursor } = event);
      if (event.item) ids.push(event.item.id);
      left -= 1;
      if (left === 0 || ids.length === LEADS) return;
    }
  };
  const places: [number, number][] = [
    [1, 50],
    [2, 50],
    [30, 50],
    [49, 10],
    [7, 50],
    [200, 1],
  ];
  for (const place of places) await whileTimePasses(clock, listen(place));
  expect(new Set(ids).size).toBe(LEADS);
});
