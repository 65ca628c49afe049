import { readRepositoryId } from '#leads/lead-store.ts';
import { email } from '../../support/identities.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changeFor } from '#leads/lead-feed/lead-change.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { rulesCheckOf, hashIdentity } from '#leads/directory/lead-directory.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../support/deletions/world.ts';
import {
  leadStoreIn,
  claimLeads,
  directoryKey,
  leadRules,
  matchedOnly,
  findLeads,
  isKnown,
} from '../../support/directory.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { createFakeTracker } from '../fake-tracker.ts';
import { eventually } from '../../support/eventually.ts';
import { adoptRepository } from '#leads/directory/write-directory.ts';
import { readDirectoryState } from '#leads/directory/directory-view.ts';
import { readChangesAfter } from '#leads/lead-feed/stored-changes.ts';

const byEmail = (value: string) => hashIdentity(directoryKey, email(value));

const complete = (world: DeletionWorld) =>
  eventually(() => expect(world.filler.status().state).toBe('complete'));

const listCalls = (world: DeletionWorld) =>
  world.tracker.calls.entries.filter(({ path }) => path.endsWith('/issues'));

const seeds = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...leadIssue({ email: `person-${index}@example.com` }),
    createdAt: Date.parse('2026-01-01') + index * SECOND,
    ...(index % 3 === 1 && { state: 'closed' as const }),
    ...(index % 3 === 2 && { labels: [] }),
  }));

describe('the first crawl', () => {
  test('takes in every issue in any state and with any label, but no pull request', async () => {
    const world = await openDeletions();
    world.tracker.seedIssues(seeds(250));
    world.tracker.createIssue({ ...leadIssue({ email: 'pull@example.com' }), isPullRequest: true });
    world.filler.start();
    await complete(world);
    expect(world.filler.status()).toMatchObject({ state: 'complete', issues: 250 });
    for (const index of [0, 1, 2, 249])
      expect(await findLeads(world.database, byEmail(`person-${index}@example.com`))).toEqual([
        index + 1,
      ]);
    expect(await findLeads(world.database, byEmail('pull@example.com'))).toEqual([]);
    expect(listCalls(world)).toHaveLength(3);
  });

  test('goes on after a restart where it was cut short', async () => {
    const first = await openDeletions();
    first.tracker.seedIssues(seeds(350));
    first.tracker.fault({ kind: 'status', status: 500, path: '/issues$', skip: 2, count: 9 });
    first.filler.start();
    await eventually(() => expect(first.filler.status().lastError).toBe('tracker-unavailable'));
    expect(first.filler.status()).toMatchObject({ state: 'crawling', issues: 200 });
    await first.stop();
    first.tracker.clearFaults();
    first.tracker.calls.clear();
    const second = await openDeletions({ of: first });
    second.filler.start();
    await complete(second);
    expect(listCalls(second)[0]?.query).toContain('since=2026-01-01T00%3A03%3A18Z');
    expect(await findLeads(second.database, byEmail('person-349@example.com'))).toEqual([350]);
    expect(await findLeads(second.database, byEmail('person-0@example.com'))).toEqual([1]);
  });

  test('meets an issue again that changes while it runs', async () => {
    const world = await openDeletions();
    world.tracker.seedIssues(seeds(150));
    const barrier = world.tracker.hold({ path: '/issues$' });
    world.filler.start();
    await barrier.arrived();
    world.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    barrier.open();
    await complete(world);
    expect(await findLeads(world.database, byEmail('new@example.com'))).toEqual([1]);
  });
});

describe('the daily crawl', () => {
  test('adds what bodies say now, and takes nothing away that they said before', async () => {
    const clock = createFakeClock();
    const world = await openDeletions({ clock });
    world.tracker.seedIssues(seeds(2));
    world.filler.start();
    await complete(world);
    world.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    world.tracker.editIssue(2, { body: 'Somebody wrote this instead.' });
    await clock.advance(DAY);
    await eventually(async () => {
      await clock.advance(HOUR); // it may have begun to wait only now
      expect(await findLeads(world.database, byEmail('new@example.com'))).toEqual([1]);
      expect((await readDirectoryState(world.directory))?.isCrawling).toBe(false);
    });
    expect(await findLeads(world.database, byEmail('person-0@example.com'))).toEqual([1]);
    expect(await findLeads(world.database, byEmail('person-1@example.com'))).toEqual([2]);
  });
});

test('another label of deletions has all issues looked through again, before the day is over', async () => {
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const store = leadStoreIn(temporaryDatabase(), { now: () => clock.now() });
  const rules = { ...leadRules };
  tracker.open({ labels: ['approved', 'gone'] });
  const filler = createDirectoryFiller({
    ...matchedOnly,
    tracker,
    store,
    identifyRepository: async () => 1,
    rules,
    key: directoryKey,
    clock,
    log: silentLog,
  });
  onTestFinished(() => filler.stop());
  const isVisible = async () => (await readChangesAfter(store, [0, 0], 1))[0]?.isVisible;
  filler.start();
  await eventually(async () => expect(await isVisible()).toBe(true));
  const startedAt = clock.now();
  for (const deletedLabel of ['gone', 'deleted-by-partner']) {
    await clock.advance(HOUR); // no replica of the tracker is behind any more
    rules.deletedLabel = deletedLabel;
    await eventually(async () => {
      await clock.advance(MINUTE); // it may have begun to wait only now
      expect(await isVisible()).toBe(deletedLabel !== 'gone');
    });
  }
  expect(clock.now() - startedAt).toBeLessThan(DAY);
});

describe('a catch-up', () => {
  test('reads with an overlap of 60 seconds what changed since the last one', async () => {
    const world = await openDeletions();
    world.tracker.seedIssues(seeds(3));
    world.filler.start();
    await complete(world);
    world.tracker.calls.clear();
    world.tracker.createIssue(leadIssue({ email: 'new@example.com' }));
    expect(await world.filler.catchUp()).toEqual({ isComplete: true });
    expect(await findLeads(world.database, byEmail('new@example.com'))).toEqual([4]);
    expect(listCalls(world).map(({ query }) => new URLSearchParams(query).get('since'))).toEqual([
      '2025-12-31T23:59:02Z',
    ]);
  });

  test('in flight serves nobody who came after it began; the next serves all of them', async () => {
    const world = await openDeletions();
    world.tracker.seedIssues(seeds(1));
    world.filler.start();
    await complete(world);
    world.tracker.calls.clear();
    const barrier = world.tracker.hold({ path: '/issues$' });
    const early = world.filler.catchUp();
    await barrier.arrived();
    world.tracker.createIssue(leadIssue({ email: 'new@example.com' }));
    const late = [world.filler.catchUp(), world.filler.catchUp(), world.filler.catchUp()];
    barrier.open();
    await Promise.all([early, ...late]);
    expect(await findLeads(world.database, byEmail('new@example.com'))).toEqual([2]);
    expect(listCalls(world)).toHaveLength(2);
  });

  test('tells that the first crawl is not complete', async () => {
    const world = await openDeletions();
    expect(await world.filler.catchUp()).toEqual({ isComplete: false });
  });
});

describe('the tracker’s webhook', () => {
  const issueOf = (world: DeletionWorld, number: number, changes: object = {}) => {
    const record = world.tracker.readIssue(number);
    if (!record) throw new Error('no such issue');
    return {
      ...record,
      type: undefined,
      fieldValues: undefined,
      body: record.body ?? '',
      labels: record.labels.map(({ name }) => name),
      assignees: [],
      author: 'acme-portal[bot]',
      ...changes,
    };
  };

  async function filledWorld(): Promise<DeletionWorld> {
    const world = await openDeletions();
    world.tracker.seedIssues(seeds(1));
    world.filler.start();
    await complete(world);
    return world;
  }

  const edited = { body: leadIssue({ email: 'new@example.com' }).body };

  test('takes no identity of a claimed lead away, and adds new ones: a later event finds it', async () => {
    const world = await filledWorld();
    const repositoryId =
      (await readRepositoryId(world.directory.db, world.directory.repository)) ?? 0;
    await claimLeads(world.database, { numbers: [1], repositoryId });
    const redacted = issueOf(world, 1, { body: '', updatedAt: Date.now() });
    world.filler.apply({ kind: 'issue', issue: redacted, isGone: false });
    await world.filler.settled();
    expect(await findLeads(world.database, byEmail('person-0@example.com'))).toEqual([1]);
    const corrected = issueOf(world, 1, { ...edited, updatedAt: Date.now() });
    world.filler.apply({ kind: 'issue', issue: corrected, isGone: false });
    await world.filler.settled();
    for (const email of ['person-0', 'new'])
      expect(await findLeads(world.database, byEmail(`${email}@example.com`))).toEqual([1]);
  });

  test('tells who could read a lead by a label that was renamed, taken off and put on since', async () => {
    const world = await filledWorld();
    const repositoryId =
      (await readRepositoryId(world.directory.db, world.directory.repository)) ?? 0;
    const issue = (labels: string[], seconds: number) =>
      issueOf(world, 1, { labels, updatedAt: issueOf(world, 1).updatedAt + seconds * SECOND });
    const take = (labels: string[], seconds: number) =>
      world.filler.apply({ kind: 'issue', issue: issue(labels, seconds), isGone: false });
    take(['Approved', 'West'], 1);
    world.filler.apply({ kind: 'everything', renamedLabel: { from: 'WEST', to: 'Vest' } });
    await world.filler.settled();
    take(['approved', 'vip'], 2);
    take(['spam'], 3);
    await world.filler.settled();
    await claimLeads(world.database, { numbers: [1], repositoryId });
    const feed = leadStoreIn(world.database);
    for (const [label, isTold] of [
      ['west', true],
      ['vest', true],
      ['vip', true],
      ['spam', false],
    ] as const) {
      const [change] = await readChangesAfter(feed, [0, 0], 1);
      if (!change) throw new Error('nothing is told');
      expect(changeFor(change, [label]) !== undefined).toBe(isTold);
    }
  });

  test('of an issue that is gone keeps the row until the next crawl', async () => {
    const world = await filledWorld();
    world.filler.apply({ kind: 'issue', issue: issueOf(world, 1), isGone: true });
    await world.filler.settled();
    expect(await isKnown(world.directory, 1)).toBe(true);
  });
});

describe('what the stored hashes depend on', () => {
  const open = async (world: DeletionWorld, rules = leadRules) => {
    const directory = leadStoreIn(world.database);
    const id = (await readRepositoryId(directory.db, directory.repository)) ?? 0;
    await adoptRepository(directory, id, { rules: rulesCheckOf(rules, directoryKey), at: 1 });
  };

  test('another form keeps what was known', async () => {
    const first = await openDeletions();
    first.tracker.seedIssues(seeds(1));
    first.filler.start();
    await complete(first);
    first.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    await first.stop();
    await open(first, { ...leadRules, portalAuthors: [] });
    const second = await openDeletions({ of: first });
    second.filler.start();
    await complete(second);
    for (const email of ['person-0', 'new'])
      expect(await findLeads(second.database, byEmail(`${email}@example.com`))).toEqual([1]);
  });
});

test('an event of the repository that comes while it is identified has it identified anew', async () => {
  const clock = createFakeClock();
  const store = leadStoreIn(temporaryDatabase());
  let id = 1;
  const asked: PromiseWithResolvers<number>[] = [];
  const filler = createDirectoryFiller({
    ...matchedOnly,
    tracker: createFakeTracker(clock),
    store,
    identifyRepository: () => {
      const response = Promise.withResolvers<number>();
      asked.push(response);
      return response.promise;
    },
    rules: leadRules,
    key: directoryKey,
    clock,
    log: silentLog,
  });
  const identify = async (): Promise<void> => {
    const identified = filler.identify();
    asked.at(-1)?.resolve(id);
    await identified;
  };
  const underWay = filler.identify();
  filler.apply({ kind: 'everything' });
  asked[0]?.resolve(1);
  await underWay;
  id = 2; // the name means another one now
  await identify();
  expect(await readRepositoryId(store.db, store.repository)).toBe(2);
  await identify();
  expect(asked).toHaveLength(2);
});

describe('a tracker that is away', () => {
  async function waitsOf(isComplete: boolean): Promise<number[]> {
    const clock = createFakeClock();
    const waits: number[] = [];
    let isAway = !isComplete;
    const filler = createDirectoryFiller({
      ...matchedOnly,
      tracker: createFakeTracker(clock),
      store: leadStoreIn(temporaryDatabase()),
      identifyRepository: async () => {
        if (isAway) throw new TrackportError('tracker-unavailable');
        return 1;
      },
      rules: leadRules,
      key: directoryKey,
      clock: {
        ...clock,
        sleep: (ms, options) => {
          if (isAway) waits.push(ms / SECOND);
          return clock.sleep(ms, options);
        },
      },
      log: silentLog,
    });
    onTestFinished(() => filler.stop());
    filler.start();
    if (isComplete) await eventually(() => expect(filler.status().state).toBe('complete'));
    isAway = true;
    while (waits.length < 8) await clock.advance(HOUR);
    return waits.slice(0, 8);
  }

  test('is asked every minute at least until the first crawl, for deletions wait for it', async () => {
    expect(await waitsOf(false)).toEqual([10, 20, 40, 60, 60, 60, 60, 60]);
  });

  test('is asked every five minutes afterwards', async () => {
    expect(await waitsOf(true)).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });
});
