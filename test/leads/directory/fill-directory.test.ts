import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createCrawlBudget } from '#leads/directory/crawl-budget.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import type { LeadIdentity } from '#leads/model/identity.ts';
import { directoryChecks, hashIdentity } from '#leads/directory/lead-directory.ts';
import type { LeadTracker, TrackerQuota } from '#leads/lead-tracker.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { leadIssue, openDesk } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';
import {
  claimLeads,
  directoryKey,
  leadRules,
  REPOSITORY,
  findLeads,
} from '../../support/directory.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { createFakeTracker } from '../fake-tracker.ts';

const byEmail = (value: string) => hashIdentity(directoryKey, { kind: 'email', value });

const complete = (desk: Desk) =>
  vi.waitFor(() => expect(desk.filler.status().state).toBe('complete'), { timeout: 5000 });

const listCalls = (desk: Desk) =>
  desk.tracker.calls.entries.filter(({ path }) => path.endsWith('/issues'));

const seeds = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...leadIssue({ email: `person-${index}@example.com` }),
    createdAt: Date.parse('2026-01-01') + index * SECOND,
    ...(index % 3 === 1 && { state: 'closed' as const }),
    ...(index % 3 === 2 && { labels: [] }),
  }));

describe('the first crawl', () => {
  test('takes in every issue in any state and with any label, but no pull request', async () => {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(250));
    desk.tracker.createIssue({ ...leadIssue({ email: 'pull@example.com' }), isPullRequest: true });
    desk.filler.start();
    await complete(desk);
    expect(desk.filler.status()).toMatchObject({ state: 'complete', issues: 250 });
    for (const index of [0, 1, 2, 249])
      expect(findLeads(desk.database, byEmail(`person-${index}@example.com`))).toEqual([index + 1]);
    expect(findLeads(desk.database, byEmail('pull@example.com'))).toEqual([]);
    expect(listCalls(desk)).toHaveLength(3);
  });

  test('goes on after a restart where it was cut short', async () => {
    const first = await openDesk();
    first.tracker.seedIssues(seeds(350));
    first.tracker.fault({ kind: 'status', status: 500, path: '/issues$', skip: 2, count: 9 });
    first.filler.start();
    await vi.waitFor(() => expect(first.filler.status().lastError).toBe('tracker-unavailable'));
    expect(first.filler.status()).toMatchObject({ state: 'crawling', issues: 200 });
    await first.stop();
    first.tracker.clearFaults();
    first.tracker.calls.clear();
    const second = await openDesk({ of: first });
    second.filler.start();
    await complete(second);
    expect(listCalls(second)).toHaveLength(2);
    expect(listCalls(second)[0]?.query).toContain('since=2026-01-01T00%3A03%3A18Z');
    expect(findLeads(second.database, byEmail('person-349@example.com'))).toEqual([350]);
    expect(findLeads(second.database, byEmail('person-0@example.com'))).toEqual([1]);
  });

  test('meets an issue again that changes while it runs', async () => {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(150));
    const barrier = desk.tracker.hold({ path: '/issues$' });
    desk.filler.start();
    await barrier.arrived();
    desk.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    barrier.open();
    await complete(desk);
    expect(findLeads(desk.database, byEmail('new@example.com'))).toEqual([1]);
  });
});

describe('the daily crawl', () => {
  test('removes what the tracker has no more, but never the row of a claimed lead', async () => {
    const clock = createFakeClock();
    const desk = await openDesk({ clock });
    desk.tracker.seedIssues(seeds(3));
    desk.filler.start();
    await complete(desk);
    for (const number of [1, 2]) desk.tracker.deleteIssue(number);
    const repositoryId = (await desk.directory.repositoryId()) ?? 0;
    claimLeads(desk.database, { numbers: [2], repositoryId });
    await clock.advance(DAY);
    await vi.waitFor(async () => expect(await desk.directory.has(1)).toBe(false), 5000);
    expect(await desk.directory.has(2)).toBe(true);
    expect(findLeads(desk.database, byEmail('person-1@example.com'))).toEqual([2]);
    expect(await desk.directory.has(3)).toBe(true);
    await vi.waitFor(async () => expect((await desk.directory.state())?.crawling).toBe(false));
    expect(findLeads(desk.database, byEmail('person-0@example.com'))).toEqual([]);
  });

  test('adds what bodies say now, and takes nothing away that they said before', async () => {
    const clock = createFakeClock();
    const desk = await openDesk({ clock });
    desk.tracker.seedIssues(seeds(2));
    desk.filler.start();
    await complete(desk);
    desk.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    desk.tracker.editIssue(2, { body: 'Somebody wrote this instead.' });
    await clock.advance(DAY);
    await vi.waitFor(async () => {
      expect(findLeads(desk.database, byEmail('new@example.com'))).toEqual([1]);
      expect((await desk.directory.state())?.crawling).toBe(false);
    }, 5000);
    expect(findLeads(desk.database, byEmail('person-0@example.com'))).toEqual([1]);
    expect(findLeads(desk.database, byEmail('person-1@example.com'))).toEqual([2]);
  });
});

describe('a catch-up', () => {
  test('reads with an overlap of 60 seconds what changed since the last one', async () => {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(3));
    desk.filler.start();
    await complete(desk);
    desk.tracker.calls.clear();
    desk.tracker.createIssue(leadIssue({ email: 'new@example.com' }));
    expect(await desk.filler.catchUp()).toEqual({ complete: true });
    expect(findLeads(desk.database, byEmail('new@example.com'))).toEqual([4]);
    expect(listCalls(desk).map(({ query }) => new URLSearchParams(query).get('since'))).toEqual([
      '2025-12-31T23:59:02Z',
    ]);
  });

  test('adds what an edit brings and keeps what it takes away', async () => {
    const desk = await openDesk();
    const ids = { 'crm-two': '4711' };
    desk.tracker.createIssue(leadIssue({ externalIds: ids, correlationId: 'c-1' }));
    desk.filler.start();
    await complete(desk);
    const edited = leadIssue({ email: 'new@example.com', externalIds: { 'crm-two': '4712' } });
    desk.tracker.editIssue(1, { body: edited.body });
    await desk.filler.catchUp();
    const found = (identity: LeadIdentity) =>
      findLeads(desk.database, hashIdentity(directoryKey, identity));
    for (const email of ['ada@example.com', 'new@example.com'])
      expect(found({ kind: 'email', value: email })).toEqual([1]);
    for (const value of ['4711', '4712'])
      expect(found({ kind: 'external-id', partnerId: 'crm-two', value })).toEqual([1]);
    expect(found({ kind: 'correlation-id', value: 'c-1' })).toEqual([1]);
  });

  test('in flight serves nobody who came after it began; the next serves all of them', async () => {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(1));
    desk.filler.start();
    await complete(desk);
    desk.tracker.calls.clear();
    const barrier = desk.tracker.hold({ path: '/issues$' });
    const early = desk.filler.catchUp();
    await barrier.arrived();
    desk.tracker.createIssue(leadIssue({ email: 'new@example.com' }));
    const late = [desk.filler.catchUp(), desk.filler.catchUp(), desk.filler.catchUp()];
    barrier.open();
    await Promise.all([early, ...late]);
    expect(findLeads(desk.database, byEmail('new@example.com'))).toEqual([2]);
    expect(listCalls(desk)).toHaveLength(2);
  });

  test('tells that the first crawl is not complete', async () => {
    const desk = await openDesk();
    expect(await desk.filler.catchUp()).toEqual({ complete: false });
  });
});

describe('the tracker’s webhook', () => {
  const issueOf = (desk: Desk, number: number, changes: object = {}) => {
    const record = desk.tracker.readIssue(number);
    if (!record) throw new Error('no such issue');
    return {
      ...record,
      body: record.body ?? '',
      labels: record.labels.map(({ name }) => name),
      assignees: [],
      author: 'acme-portal[bot]',
      ...changes,
    };
  };

  async function filledDesk(): Promise<Desk> {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(1));
    desk.filler.start();
    await complete(desk);
    return desk;
  }

  const edited = { body: leadIssue({ email: 'new@example.com' }).body };

  test('adds what an edit brings, also when the event of an older one comes late', async () => {
    const desk = await filledDesk();
    const issue = issueOf(desk, 1);
    const newer = issueOf(desk, 1, { ...edited, updatedAt: issue.updatedAt + 2 * MINUTE });
    const between = {
      body: leadIssue({ email: 'between@example.com' }).body,
      updatedAt: issue.updatedAt + MINUTE,
    };
    desk.filler.apply({ kind: 'issue', issue: newer, isGone: false });
    desk.filler.apply({ kind: 'issue', issue: issueOf(desk, 1, between), isGone: false });
    await desk.filler.settled();
    for (const email of ['person-0', 'between', 'new'])
      expect(findLeads(desk.database, byEmail(`${email}@example.com`))).toEqual([1]);
  });

  test('takes no identity of a claimed lead away, and adds new ones: a later event finds it', async () => {
    const desk = await filledDesk();
    const repositoryId = (await desk.directory.repositoryId()) ?? 0;
    claimLeads(desk.database, { numbers: [1], repositoryId });
    const redacted = issueOf(desk, 1, { body: '', updatedAt: Date.now() });
    desk.filler.apply({ kind: 'issue', issue: redacted, isGone: false });
    await desk.filler.settled();
    expect(findLeads(desk.database, byEmail('person-0@example.com'))).toEqual([1]);
    const corrected = issueOf(desk, 1, { ...edited, updatedAt: Date.now() });
    desk.filler.apply({ kind: 'issue', issue: corrected, isGone: false });
    await desk.filler.settled();
    for (const email of ['person-0', 'new'])
      expect(findLeads(desk.database, byEmail(`${email}@example.com`))).toEqual([1]);
  });

  test('of an issue that is gone keeps the row until the next crawl', async () => {
    const desk = await filledDesk();
    desk.filler.apply({ kind: 'issue', issue: issueOf(desk, 1), isGone: true });
    await desk.filler.settled();
    expect(await desk.directory.has(1)).toBe(true);
  });
});

describe('what the stored hashes depend on', () => {
  const open = async (desk: Desk, key: Buffer, rules = leadRules) => {
    const directory = createLeadDirectory(desk.database, { repository: REPOSITORY });
    const id = (await directory.repositoryId()) ?? 0;
    await directory.open(id, directoryChecks(rules, key), 1);
    return { has: await directory.has(1), completedAt: (await directory.state())?.completedAt };
  };

  test('another key drops every row; another form keeps them; both need a new crawl', async () => {
    const desk = await openDesk();
    desk.tracker.seedIssues(seeds(1));
    desk.filler.start();
    await complete(desk);
    expect(await open(desk, directoryKey)).toEqual({ has: true, completedAt: expect.any(Number) });
    const otherForm = { ...leadRules, portalAuthors: [] };
    expect(await open(desk, directoryKey, otherForm)).toEqual({ has: true });
    expect(await open(desk, Buffer.alloc(32, 9))).toEqual({ has: false });
  });

  test('another form keeps what was known; another key knows only what bodies say then', async () => {
    const first = await openDesk();
    first.tracker.seedIssues(seeds(1));
    first.filler.start();
    await complete(first);
    first.tracker.editIssue(1, { body: leadIssue({ email: 'new@example.com' }).body });
    await first.stop();
    await open(first, directoryKey, { ...leadRules, portalAuthors: [] });
    const second = await openDesk({ of: first });
    second.filler.start();
    await complete(second);
    for (const email of ['person-0', 'new'])
      expect(findLeads(second.database, byEmail(`${email}@example.com`))).toEqual([1]);
    await second.stop();
    await open(second, Buffer.alloc(32, 9));
    const third = await openDesk({ of: first });
    third.filler.start();
    await complete(third);
    expect(findLeads(third.database, byEmail('new@example.com'))).toEqual([1]);
    expect(findLeads(third.database, byEmail('person-0@example.com'))).toEqual([]);
  });
});

describe('a tracker that is away', () => {
  async function waitsOf(isComplete: boolean): Promise<number[]> {
    const clock = createFakeClock();
    const waits: number[] = [];
    let isAway = !isComplete;
    const filler = createDirectoryFiller({
      tracker: createFakeTracker(clock),
      directory: createLeadDirectory(temporaryDatabase(), { repository: REPOSITORY }),
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
    if (isComplete) await vi.waitFor(() => expect(filler.status().state).toBe('complete'));
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

describe('the budget of a crawl', () => {
  test('is half of what the quota has left, then it waits for the reset', async () => {
    const clock = createFakeClock();
    const resetAt = clock.now() + HOUR;
    let quota: TrackerQuota = { limit: 100, remaining: 11, resetAt };
    const tracker = { quota: () => quota } as LeadTracker;
    const budget = createCrawlBudget({ tracker, clock });
    const { signal } = new AbortController();
    let spent = 0;
    const crawl = (async () => {
      for (; spent < 8; spent += 1) await budget.spend(signal);
    })();
    await clock.advance(0);
    expect(spent).toBe(5);
    quota = { limit: 100, remaining: 100, resetAt: resetAt + HOUR };
    await clock.advance(HOUR + SECOND);
    await crawl;
    expect(spent).toBe(8);
  });
});
