/**
 * Whatever people do on the tracker, whatever becomes of its webhooks, and whichever instance is asked: who follows
 * the feed ends with what a full walk shows.
 */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Database } from '#shared/database.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createLeads, type Leads } from '#leads/index.ts';
import { noOthers } from '#leads/instance-changes/instance-changes.ts';
import type { FeedItem } from '#leads/lead-feed/feed-item.ts';
import type { Issue, TrackerEvent } from '#leads/lead-tracker.ts';
import type { Visibility } from '#leads/reading/prepared-query.ts';
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
  REPOSITORY,
  REPOSITORY_ID,
  isKnown,
} from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { createFakeTracker, type FakeTracker } from '../fake-tracker.ts';

const FEED_INTERVAL_MS = MINUTE;

type World = Awaited<ReturnType<typeof openWorld>>;

/** Fate of the webhook. `lost`: the process that took it dies before it is kept. */
type Told = 'at once' | 'late' | 'lost' | 'never';

const lead = fc.nat(3);
const labels = fc.constantFrom(['approved'], ['approved', 'eu'], ['approved', 'us'], ['eu'], []);
const reading = fc.record({
  kind: fc.constant('read' as const),
  reader: fc.nat(2),
  limit: fc.integer({ min: 1, max: 4 }),
});

/** `isApart`: no replica has an older state of the same second, which nobody can tell from the newer one. */
type Promised = { told: fc.Arbitrary<Told>; isApart: boolean };

const stepsWith = ({ told, isApart }: Promised) =>
  fc.array(
    fc.oneof(
      { arbitrary: reading, weight: 12 },
      { arbitrary: fc.record({ kind: fc.constant('open' as const), labels, told }), weight: 3 },
      { arbitrary: fc.record({ kind: fc.constant('edit' as const), lead, told }), weight: 4 },
      {
        arbitrary: fc.record({ kind: fc.constant('relabel' as const), lead, labels, told }),
        weight: 4,
      },
      {
        arbitrary: fc.record({
          kind: fc.constant('remove' as const),
          lead,
          isMoved: fc.boolean(),
          told,
        }),
        weight: 1,
      },
      { arbitrary: fc.record({ kind: fc.constant('rename' as const), told }), weight: 1 },
      { arbitrary: fc.record({ kind: fc.constant('claim' as const), lead }), weight: 2 },
      { arbitrary: fc.record({ kind: fc.constant('release' as const), lead }), weight: 2 },
      {
        arbitrary: fc.record({
          kind: fc.constant('wait' as const),
          seconds: fc.constantFrom(0, 1, 20, 90),
        }),
        weight: 3,
      },
      { arbitrary: fc.record({ kind: fc.constant('deliver' as const) }), weight: 1 },
      { arbitrary: fc.record({ kind: fc.constant('crash' as const) }), weight: 1 },
      {
        arbitrary: fc.record({
          kind: fc.constant('lag' as const),
          isApart: fc.constant(isApart),
          seconds: fc.constantFrom(1, 5, 12),
        }),
        weight: 3,
      },
    ),
    { minLength: 10, maxLength: 50 },
  );
type Step = ReturnType<typeof stepsWith> extends fc.Arbitrary<(infer T)[]> ? T : never;

const promises = [
  [
    'as soon as the tracker shows it, where webhooks come',
    { told: fc.constant<Told>('at once'), isApart: true },
    20 * SECOND,
  ],
  [
    'after the next catch-up, where a replica had an older state of the same second',
    { told: fc.constant<Told>('at once'), isApart: false },
    FEED_INTERVAL_MS + 30 * SECOND,
  ],
  [
    'after a crawl a day later, whatever becomes of webhooks',
    { told: fc.constantFrom<Told>('at once', 'late', 'lost', 'never'), isApart: false },
    2 * DAY,
  ],
] as const;

/** On SQLite simulated histories show the same, and more (`test/simulation`). */
describe('on PostgreSQL', () => {
  test.each(promises)(
    'a reader that follows from the start has what a full walk shows %s',
    async (_when, promised, ms) => {
      await fc.assert(
        fc.asyncProperty(stepsWith(promised), async (steps) => {
          const world = await openWorld(await temporaryPostgres());
          for (const one of steps) await take(world, one);
          for (let waits = 0; waits < 20; waits += 1) {
            await world.clock.advance(ms / 20);
            await world.settled();
          }
          // Its server takes real time, which the clock of the test knows nothing of.
          await eventually(async () => {
            for (const reader of world.readers) {
              await reader.catchUp();
              expect([...reader.copy].sort()).toEqual(await world.walk(reader.visibility));
            }
          });
          await world.close();
        }),
        { numRuns: 6 },
      );
    },
    120_000,
  );
});

async function openWorld(database: Database = temporaryDatabase()) {
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const claims = createClaims(database, { repository: REPOSITORY });
  const directory = leadStoreIn(database, {
    repository: REPOSITORY,
    now: () => clock.now(),
  });
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
    createReader(clock, [first, second], { consumerId: 'both', labels: ['us'] }),
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
    if (how === 'at once' || how === 'lost') hear(event);
    if (how === 'lost') await crash();
    if (how === 'at once') await clock.advance(0).then(settled);
  };
  /** For so long the tracker answers by a replica that has not heard of anything since. */
  const lag = async (ms: number, isApart: boolean): Promise<void> => {
    if (tracker.replica) return;
    if (isApart) await clock.advance(SECOND);
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
    claims,
    readers,
    walk,
    tell,
    late,
    nextTitle,
    directory,
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
    claimView: createClaims(database, { repository: REPOSITORY }),
    filler,
    instanceChanges: noOthers,
    cursors: createCursorSealer(directoryKey),
    store: directory,
    lookKey: directoryKey,
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

export async function take(world: World, given: Step): Promise<void> {
  const { tracker, clock, database, claims, readers, late } = world;
  const [...numbers] = tracker.issues.keys();
  const number = 'lead' in given ? numbers[given.lead % Math.max(1, numbers.length)] : undefined;
  if ('lead' in given && number === undefined) return;
  const { tell } = world;
  const toEvent = (issue: Issue): TrackerEvent => ({ kind: 'issue', issue, isGone: false });
  const at = number ?? 0;
  // The directory learns of a change of a claimed lead by the next one, or by the next crawl.
  const isFrozen = given.kind !== 'release' && (await claims.current()).has(at);
  if (isFrozen) return;
  switch (given.kind) {
    case 'open':
      return tell(given.told, toEvent(tracker.open({ labels: given.labels })));
    case 'edit':
      return tell(given.told, toEvent(tracker.change(at, { title: world.nextTitle() })));
    case 'relabel':
      return tell(given.told, toEvent(tracker.change(at, { labels: given.labels })));
    case 'remove': {
      const issue = tracker.issues.get(at) as Issue;
      tracker.remove(at);
      return tell(given.told, { kind: 'issue', issue, isGone: true, isMoved: given.isMoved });
    }
    case 'rename': {
      for (const issue of tracker.issues.values())
        tracker.issues.set(issue.number, {
          ...issue,
          labels: issue.labels.map((name) => (name === 'eu' ? 'us' : name)),
        });
      await tell(given.told, { kind: 'everything', renamedLabel: { from: 'eu', to: 'us' } });
      return clock.advance(SECOND); // nobody makes a label of the old name in the same moment
    }
    case 'claim':
      if (!(await isKnown(world.directory, at))) return; // nobody claims a lead that the directory has not met
      await clock.advance(SECOND); // what is claimed is frozen: what came before is in
      return claimLeads(database, { numbers: [at], at: clock.now() });
    case 'release':
      if ((await claims.current()).has(at))
        await claims.release(at, {
          at: clock.now(),
          actor: { kind: 'cli', subject: 'ops' },
        });
      return;
    case 'wait':
      return clock.advance(given.seconds * SECOND);
    case 'deliver':
      for (const event of late.splice(0).reverse()) await tell('at once', event);
      return;
    case 'crash':
      return world.crash();
    case 'lag':
      return world.lag(given.seconds * SECOND, given.isApart);
    case 'read':
      await readers[given.reader]?.read(given.limit);
  }
}

test('what the first crawl meets, and nobody touched for a day, is no change', async () => {
  const world = await openWorld();
  world.tracker.open();
  await world.clock.advance(2 * DAY);
  const [all, , , beginsNow] = world.readers;
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
    await world.lag(5 * SECOND, false);
    await take(world, {
      kind: 'remove',
      lead: 0,
      isMoved: false,
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
    ['an issue that went', 2 * SECOND, { kind: 'remove', lead: 0, isMoved: false, told }, 'all'],
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
