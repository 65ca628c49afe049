/** Copies of readers who follow the feed, when webhooks come late, or replicas of the tracker lag. Whatever else comes together is played by `test/simulation`. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Database } from '#shared/database.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createLeads, type Leads } from '#leads/index.ts';
import { noOthers } from '#leads/instance-changes.ts';
import type { FeedItem } from '#leads/lead-feed/feed-item.ts';
import { beginEra } from '#leads/lead-feed/stored-changes.ts';
import type { Issue, TrackerEvent } from '#leads/lead-tracker.ts';
import type { Visibility } from '#leads/model/lead-query.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { createClaims } from '../../support/claims.ts';
import { createFakeClock, type FakeClock, whileTimePasses } from '../../support/clock.ts';
import {
  leadStoreIn,
  claimLeads,
  directoryKey,
  leadRules,
  REPOSITORY_ID,
} from '../../support/directory.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { createFakeTracker, type FakeTracker } from '../fake-tracker.ts';

const FEED_INTERVAL_MS = MINUTE;

type World = Awaited<ReturnType<typeof openWorld>>;

/** Fate of the webhook. */
type Told = 'at once' | 'late' | 'never';

/** `lead`: counted from 0. */
type Step =
  | { kind: 'open'; labels: readonly string[]; told: Told }
  | { kind: 'edit'; lead: number; told: Told }
  | { kind: 'relabel'; lead: number; labels: readonly string[]; told: Told }
  | { kind: 'remove'; lead: number; told: Told }
  | { kind: 'deliver' };

async function openWorld() {
  const database = temporaryDatabase();
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const start = () => startProcess({ clock, tracker, database });
  // The second one never hears of a webhook.
  const processes = { first: start(), second: start() };
  await processes.first.filler.identify(); // what is told in the first second of a store's life is left to the crawl
  processes.first.filler.start();
  const first = (): Leads => processes.first.leads;
  const second = (): Leads => processes.second.leads;
  const readers = [
    createReader(clock, [first], { consumerId: 'all', labels: [] }),
    createReader(clock, [second], { consumerId: 'eu', labels: ['eu'] }),
    createReader(clock, [second], { consumerId: 'late', labels: [] }),
  ];
  const walk = async (visibility: Visibility): Promise<string[]> => {
    const query = { limit: 100, labels: [], state: 'all' as const };
    const walker = start();
    const { value } = await walker.leads.reader.list(query, visibility);
    return value.items.map(contentOf).sort();
  };
  const settled = async (): Promise<void> => {
    await setImmediate();
    await processes.first.filler.settled();
  };
  const hear = (event: TrackerEvent): void => processes.first.leads.applyEvent(event);
  const crash = async (): Promise<void> => {
    await Promise.all([processes.first.die(), processes.second.die()]);
    Object.assign(processes, { first: start(), second: start() });
    processes.first.filler.start();
  };
  const tell = async (how: Told, event: TrackerEvent): Promise<void> => {
    if (how === 'late') late.push(event);
    if (how !== 'at once') return;
    hear(event);
    await clock.advance(0).then(settled);
  };
  /** For so long the tracker answers by a replica that has not heard of anything since. */
  const lag = (ms: number): void => {
    tracker.replica = new Map(tracker.issues);
    void clock.sleep(ms).then(() => (tracker.replica = undefined));
  };
  const late: TrackerEvent[] = [];
  let edits = 0;
  const nextTitle = (): string => `Edited ${(edits += 1)}`;
  return {
    clock,
    tracker,
    database,
    first,
    readers,
    walk,
    tell,
    late,
    nextTitle,
    crash,
    lag,
    settled,
    close: async () => {
      await Promise.all([processes.first.die(), processes.second.die()]);
    },
  };
}

type Surroundings = { clock: FakeClock; tracker: FakeTracker; database: Database };

/** Memory of one process, on a store that others are on, too. */
function startProcess({ clock, tracker, database }: Surroundings) {
  const now = (): number => clock.now();
  const directory = leadStoreIn(database, { now });
  let isDead = false;
  const filler = createDirectoryFiller({
    tracker,
    store: { ...directory, db: untilDeath(database, () => isDead) },
    identifyRepository: async () => REPOSITORY_ID,
    feedIntervalMs: FEED_INTERVAL_MS,
    hasPartners: () => false,
    rules: leadRules,
    key: directoryKey,
    clock,
    log: silentLog,
  });
  const leads = createLeads({
    log: silentLog,
    clock,
    tracker,
    claimView: createClaims(database),
    filler,
    instanceChanges: noOthers,
    cursors: createCursorSealer(directoryKey),
    store: directory,
    directoryKey: directoryKey,
    rules: leadRules,
    freshForMs: 15 * SECOND,
    staleIfErrorMs: HOUR,
    cacheBytesMax: 1024 * 1024,
  });
  const die = async (): Promise<void> => {
    isDead = true;
    await Promise.all([filler.stop(), leads.leadFeed.close()]);
  };
  return { leads, filler, die };
}

/** Writes of a process that is dead are dropped. */
function untilDeath<T extends object>(port: T, isDead: () => boolean): T {
  return new Proxy(port, {
    get: (target, name, receiver) => {
      if (isDead()) throw new TrackportError('store-unavailable');
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}

const contentOf = ({
  id,
  title,
  labels: carried,
}: {
  id: string;
  title: string;
  labels: readonly string[];
}) => `${id} ${title} ${carried.join(' ')}`;

/** A copy that is kept as the documents say. Its requests go to the instances in turn. */
function createReader(
  clock: FakeClock,
  instances: readonly (() => Leads)[],
  visibility: Visibility,
) {
  const copy = new Map<string, string>();
  let cursor: string | undefined;
  let calls = 0;
  let taken = 0;
  const take = (item: FeedItem): void => {
    taken += 1;
    if (item.type === 'lead.removed') copy.delete(item.id);
    else copy.set(item.id, contentOf(item.lead));
  };
  const read = async (limit: number, isFromStart = true): Promise<boolean> => {
    const { leadFeed } = (instances[calls++ % instances.length] as () => Leads)();
    const query = {
      limit,
      fromStart: isFromStart && cursor === undefined,
      ...(cursor !== undefined && { cursor }),
    };
    const wait = { waitMs: 0, signal: new AbortController().signal };
    const page = leadFeed.read(query, visibility, wait);
    const { items, pagination } = await whileTimePasses(clock, page);
    for (const item of items) take(item);
    cursor = pagination.nextCursor;
    return pagination.hasMore;
  };
  return {
    visibility,
    get copy() {
      return copy.values();
    },
    taken: () => taken,
    has: (number: number) => copy.has(String(number)),
    read,
    catchUp: async (): Promise<void> => {
      while (await read(100));
    },
  };
}

async function take(world: World, step: Step): Promise<void> {
  const { tracker, tell, late } = world;
  const at = 'lead' in step ? ([...tracker.issues.keys()][step.lead] ?? 0) : 0;
  const toEvent = (issue: Issue): TrackerEvent => ({ kind: 'issue', issue, isGone: false });
  switch (step.kind) {
    case 'open':
      return tell(step.told, toEvent(tracker.open({ labels: step.labels })));
    case 'edit':
      return tell(step.told, toEvent(tracker.change(at, { title: world.nextTitle() })));
    case 'relabel':
      return tell(step.told, toEvent(tracker.change(at, { labels: step.labels })));
    case 'remove': {
      const issue = tracker.issues.get(at) as Issue;
      tracker.remove(at);
      return tell(step.told, { kind: 'issue', issue, isGone: true });
    }
    case 'deliver':
      for (const event of late.splice(0).reverse()) await tell('at once', event);
  }
}

test('what the first crawl meets, and nobody touched for a day, is no change', async () => {
  const world = await openWorld();
  world.tracker.open();
  await world.clock.advance(2 * DAY);
  const [all, , beginsNow] = world.readers;
  await beginsNow?.read(1, false);
  await all?.catchUp();
  await world.clock.advance(MINUTE);
  await Promise.all([all?.catchUp(), beginsNow?.catchUp()]);
  expect([all?.taken(), beginsNow?.taken()]).toEqual([1, 0]);
  await world.close();
});

test('a lead that left a reader behind a page that is cut leaves its copy, whatever became of it since', async () => {
  const world = await openWorld();
  const [, eu] = world.readers;
  const labels = ['approved', 'eu'] as const;
  await take(world, { kind: 'open', labels, told: 'at once' });
  await eu?.read(1);
  expect(eu?.has(1)).toBe(true);
  await take(world, { kind: 'relabel', lead: 0, labels: ['approved'], told: 'at once' });
  await take(world, { kind: 'open', labels, told: 'at once' });
  await take(world, { kind: 'edit', lead: 0, told: 'at once' });
  await world.clock.advance(MINUTE);
  await eu?.read(1);
  await eu?.read(1);
  await eu?.read(1);
  expect([eu?.has(1), eu?.has(2), eu?.taken()]).toEqual([false, true, 3]);
  await take(world, { kind: 'edit', lead: 0, told: 'at once' });
  await eu?.catchUp();
  expect(eu?.taken()).toBe(3);
  await world.close();
});

test('a claimed lead leaves a copy with the next read', async () => {
  const world = await openWorld();
  world.tracker.open();
  await world.clock.advance(DAY);
  const [reader] = world.readers;
  await reader?.catchUp();
  expect(reader?.has(1)).toBe(true);
  await claimLeads(world.database, { numbers: [1], at: world.clock.now() });
  await reader?.catchUp();
  expect(reader?.has(1)).toBe(false);
  await world.close();
});

test('behind an era that is over a copy is begun again, by whoever reads or listens', async () => {
  const { clock, database, first, readers, close } = await openWorld();
  const [reader] = readers;
  await reader?.catchUp();
  const query = { limit: 100, fromStart: false };
  const wait = { waitMs: SECOND, signal: new AbortController().signal };
  const follow = (cursor?: string) =>
    first().leadFeed.follow({ ...query, cursor }, { consumerId: 'all', labels: [] }, wait);
  const events = follow();
  const begun = (await events.next()).value as { cursor: string };
  await events.next(); // that it has all
  const ended = events.next();
  await database.exclusive((tx) => beginEra(tx, { id: REPOSITORY_ID, at: clock.now() }));
  const expired = expect.objectContaining({ code: 'cursor-expired' });
  await expect(whileTimePasses(clock, ended)).rejects.toEqual(expired);
  await expect(reader?.catchUp()).rejects.toEqual(expired);
  await expect(follow(begun.cursor).next()).rejects.toEqual(expired);
  await readers[2]?.catchUp();
  await readers[2]?.catchUp();
  await close();
});

describe('what a webhook has told to be gone a moment ago', () => {
  /** A lead that a reader has, gone now; the tracker answers by a replica that has not heard of it. */
  async function openGone({ told }: { told: 'at once' | 'never' }) {
    const world = await openWorld();
    const [reader] = world.readers;
    await take(world, { kind: 'open', labels: ['approved'], told: 'at once' });
    await reader?.catchUp();
    await world.clock.advance(MINUTE);
    await take(world, { kind: 'edit', lead: 0, told });
    await world.clock.advance(SECOND);
    world.lag(5 * SECOND);
    await take(world, {
      kind: 'remove',
      lead: 0,
      told: 'at once',
    });
    await reader?.catchUp();
    return { world, reader };
  }

  test.each(['at once', 'never'] as const)(
    'is not brought back by the look at a start, when its last edit was told %s',
    async (told) => {
      const { world, reader } = await openGone({ told });
      const before = reader?.taken();
      await world.crash();
      await world.clock.advance(SECOND);
      await reader?.catchUp();
      await world.clock.advance(2 * MINUTE);
      await reader?.catchUp();
      expect([reader?.has(1), reader?.taken()]).toEqual([false, before]);
      await world.close();
    },
  );

  test('comes back when it is met later all the same', async () => {
    const { world, reader } = await openGone({ told: 'at once' });
    const [issue] = world.tracker.replica?.values() ?? [];
    if (issue) world.tracker.issues.set(1, issue);
    await world.crash();
    await world.clock.advance(2 * MINUTE);
    await reader?.catchUp();
    expect(reader?.has(1)).toBe(true);
    await world.close();
  });
});

describe('what a read finds before anybody has noted it is told once:', () => {
  const told = 'never';
  test.each<[what: string, gapMs: number, unnoted: Step, of: 'all' | 'eu']>([
    ['an edit', 2 * SECOND, { kind: 'edit', lead: 0, told }, 'all'],
    ['an edit of the same second', 0, { kind: 'edit', lead: 0, told }, 'all'],
    [
      'an approval that ended',
      2 * SECOND,
      { kind: 'relabel', lead: 0, labels: ['eu'], told },
      'all',
    ],
    [
      'a label that went',
      2 * SECOND,
      { kind: 'relabel', lead: 0, labels: ['approved'], told },
      'eu',
    ],
    ['an issue that went', 2 * SECOND, { kind: 'remove', lead: 0, told }, 'all'],
  ])('%s', async (_what, gapMs, unnoted, of) => {
    const world = await openWorld();
    const { clock } = world;
    const reader = world.readers[of === 'all' ? 0 : 1];
    await take(world, { kind: 'open', labels: ['approved', 'eu'], told: 'at once' });
    await clock.advance(MINUTE);
    await reader?.catchUp();
    await take(world, { kind: 'edit', lead: 0, told: 'at once' });
    await clock.advance(gapMs);
    await take(world, unnoted);
    await clock.advance(20 * SECOND);
    const before = reader?.taken() ?? 0;
    await reader?.catchUp();
    expect(reader?.taken()).toBe(before + 1);
    expect([...(reader?.copy ?? [])]).toEqual(
      await world.walk(reader?.visibility ?? { consumerId: '', labels: [] }),
    );
    await clock.advance(2 * MINUTE);
    await reader?.catchUp();
    expect(reader?.taken()).toBe(before + 1);
    await world.close();
  });

  test('an older state that comes to be known behind it is no change', async () => {
    const world = await openWorld();
    const {
      clock,
      readers: [reader],
    } = world;
    await take(world, { kind: 'open', labels: ['approved'], told: 'at once' });
    await clock.advance(MINUTE);
    await reader?.catchUp();
    await take(world, { kind: 'edit', lead: 0, told: 'at once' });
    await clock.advance(2 * SECOND);
    await take(world, { kind: 'edit', lead: 0, told: 'late' });
    await clock.advance(2 * SECOND);
    await take(world, { kind: 'edit', lead: 0, told: 'never' });
    await clock.advance(20 * SECOND);
    await reader?.catchUp();
    const before = reader?.taken();
    await take(world, { kind: 'deliver' });
    await reader?.catchUp();
    await clock.advance(2 * MINUTE);
    await reader?.catchUp();
    expect(reader?.taken()).toBe(before);
    await world.close();
  });
});

describe('of two states of one second, whose webhooks come in any order,', () => {
  test.each<[string, now: string[], before: string[], isThere: boolean]>([
    ['the older one comes last', ['approved'], [], true],
    ['the newer one comes last', [], ['approved'], false],
  ])(
    'whoever begins to follow later has the newer one: %s',
    async (_which, now, before, isThere) => {
      const world = await openWorld();
      const { clock, tracker, readers } = world;
      await take(world, { kind: 'open', labels: ['approved'], told: 'at once' });
      await clock.advance(MINUTE);
      const states = [before, now].map((labels) => tracker.change(1, { labels }));
      const told = isThere ? states.toReversed() : states;
      for (const issue of told)
        await world.tell('at once', { kind: 'issue', issue, isGone: false });
      await clock.advance(20 * SECOND);
      await world.settled();
      await readers[0]?.catchUp();
      expect(readers[0]?.has(1)).toBe(isThere);
      await world.close();
    },
  );

  test('a removal is told at once', async () => {
    const world = await openWorld();
    const {
      clock,
      tracker,
      readers: [reader],
    } = world;
    await take(world, { kind: 'open', labels: ['approved'], told: 'at once' });
    await clock.advance(MINUTE);
    await reader?.catchUp();
    for (const labels of [['approved', 'eu'], []])
      await world.tell('at once', {
        kind: 'issue',
        issue: tracker.change(1, { labels }),
        isGone: false,
      });
    await reader?.catchUp();
    expect(reader?.has(1)).toBe(false);
    await world.close();
  });
});
