import { email } from '../../support/identities.ts';
import { describe, expect, test, vi } from 'vitest';
import { createCrawlBudget, pagesSince, settleUnseen } from '#leads/directory/crawl-directory.ts';
import { hashIdentity } from '#leads/directory/lead-directory.ts';
import type { IssuePage, IssueResult, TrackerQuota } from '#leads/lead-tracker.ts';
import { type Clock, DAY, SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock, whileTimePasses } from '../../support/clock.ts';
import { leadIssue } from '../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../support/deletions/world.ts';
import {
  claimLeads,
  directoryKey,
  entry,
  findLeads,
  openedDirectory,
  isKnown,
  plainIssue,
} from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { createFakeTracker } from '../fake-tracker.ts';
import { removeEntry, startCrawl } from '#leads/directory/write-directory.ts';
import { readDirectoryState, readUnseen } from '#leads/directory/directory-view.ts';

const signal = new AbortController().signal;

function watch(promise: Promise<void>): { isDone: boolean } {
  const state = { isDone: false };
  const follow = async (): Promise<void> => {
    await promise;
    state.isDone = true;
  };
  void follow();
  return state;
}

function openBudget() {
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const quotaFor = (remaining: number, ms: number): TrackerQuota => ({
    limit: 5000,
    remaining,
    resetAt: clock.now() + ms,
  });
  const budget = createCrawlBudget(tracker, clock);
  /** True when one more call may be made without waiting. */
  const isFree = async (): Promise<boolean> => {
    const call = watch(budget.spend(signal));
    await clock.advance(0);
    return call.isDone;
  };
  return { clock, tracker, quotaFor, budget, isFree };
}

test('a crawl spends nothing that it knows of while no quota is known', async () => {
  const { isFree } = openBudget();
  for (let call = 0; call < 10; call += 1) expect(await isFree()).toBe(true);
});

test('a crawl takes half of what was left when it met the window, and waits for the reset', async () => {
  const { clock, tracker, quotaFor, budget, isFree } = openBudget();
  tracker.quotaNow = quotaFor(7, 60_000);
  expect([await isFree(), await isFree(), await isFree()]).toEqual([true, true, true]);
  const call = watch(budget.spend(signal));
  await clock.advance(60_999);
  expect(call.isDone).toBe(false);
  await clock.advance(1);
  expect(call.isDone).toBe(true);
});

test('what others spend within the window is not taken from the crawl', async () => {
  const { tracker, quotaFor, isFree } = openBudget();
  tracker.quotaNow = quotaFor(4, 60_000);
  expect(await isFree()).toBe(true);
  tracker.quotaNow = { ...tracker.quotaNow, remaining: 0 };
  expect(await isFree()).toBe(true);
  expect(await isFree()).toBe(false);
});

test('a new window brings a new half', async () => {
  const { clock, tracker, quotaFor, isFree } = openBudget();
  tracker.quotaNow = quotaFor(2, 60_000);
  expect([await isFree(), await isFree()]).toEqual([true, false]);
  await clock.advance(60_000);
  tracker.quotaNow = quotaFor(4, 3_600_000);
  expect([await isFree(), await isFree(), await isFree()]).toEqual([true, true, false]);
});

test('a crawl that waits goes on with the quota of another credential at once', async () => {
  const { clock, tracker, quotaFor, budget, isFree } = openBudget();
  tracker.quotaNow = quotaFor(1, 60_000);
  const call = watch(budget.spend(signal));
  await clock.advance(0);
  tracker.quotaNow = quotaFor(4, 60_000);
  budget.askAgain();
  await clock.advance(0);
  expect([call.isDone, await isFree(), await isFree()]).toEqual([true, true, false]);
});

test('a crawl that waits goes on waiting where the credential is the same', async () => {
  const { clock, tracker, quotaFor, budget } = openBudget();
  tracker.quotaNow = quotaFor(1, 60_000);
  const call = watch(budget.spend(signal));
  budget.askAgain();
  await clock.advance(0);
  await clock.advance(60_999);
  expect(call.isDone).toBe(false);
  await clock.advance(1);
  expect(call.isDone).toBe(true);
});

test('a crawl that is stopped waits no longer', async () => {
  const { tracker, quotaFor, budget } = openBudget();
  tracker.quotaNow = quotaFor(1, 60_000);
  const stopping = new AbortController();
  const spent = budget.spend(stopping.signal);
  stopping.abort(new Error('stop'));
  await expect(spent).rejects.toThrow('stop');
});

const START = Date.parse('2026-01-01');

function openTracker(issues: number) {
  const tracker = createFakeTracker(createFakeClock());
  for (let at = 0; at < issues; at += 1)
    tracker.open({ updatedAt: START + at * 1000, isPullRequest: at % 10 === 0 });
  const pages: IssuePage[] = [];
  const numbers = (): number[] => pages.flatMap((page) => page.issues.map(({ number }) => number));
  return { tracker, pages, numbers };
}

test('a walk from an instant leaves out what has not changed since', async () => {
  const { tracker, pages, numbers } = openTracker(20);
  for await (const page of pagesSince(tracker, START + 15_000)) pages.push(page);
  expect(numbers()).toEqual([16, 17, 18, 19, 20]);
});

test('an issue that changes meanwhile is met again, and none is missed', async () => {
  const { tracker, pages, numbers } = openTracker(150);
  for await (const page of pagesSince(tracker, 0)) {
    pages.push(page);
    if (pages.length === 1) tracker.change(1, { updatedAt: START + 1_000_000 });
  }
  expect(new Set(numbers()).size).toBe(150);
  expect(numbers().filter((number) => number === 1)).toHaveLength(2);
});

test('a page can be stored before the next is read, and whoever stops reads no further', async () => {
  const { tracker, pages } = openTracker(150);
  for await (const page of pagesSince(tracker, 0)) {
    pages.push(page);
    expect(tracker.calls).toHaveLength(1);
    break;
  }
  expect(pages).toHaveLength(1);
});

// Directory rows that a full crawl has not met.
const emailOf = (number: number) => `person-${number}@example.com`;
const byEmail = (number: number) => hashIdentity(directoryKey, email(emailOf(number)));

/** A world after its first crawl of `count` leads. */
async function filledWorld(count: number) {
  const clock = createFakeClock();
  const world = await openDeletions({ clock, tracker: { clock } });
  for (let number = 1; number <= count; number += 1)
    world.tracker.createIssue(leadIssue({ email: emailOf(number) }));
  world.filler.start();
  await eventually(() => expect(world.filler.status().state).toBe('complete'));
  return { clock, world };
}

async function crawlNextDay({ clock, world }: Awaited<ReturnType<typeof filledWorld>>) {
  const before = (await readDirectoryState(world.directory))?.completedAt ?? 0;
  await clock.advance(DAY);
  await vi.waitFor(
    async () => {
      const state = await readDirectoryState(world.directory);
      expect(state).toMatchObject({ isCrawling: false });
      expect(state?.completedAt).toBeGreaterThan(before);
    },
    { timeout: 60_000, interval: 2 },
  );
}

const rowsOf = async (world: DeletionWorld, numbers: number[]) =>
  Promise.all(numbers.map((number) => isKnown(world.directory, number)));

describe('after the next crawl', () => {
  test('a deleted or hidden issue has no row, one that moved keeps it for good', async () => {
    const day = await filledWorld(4);
    const { world } = day;
    world.tracker.deleteIssue(1);
    world.tracker.transferIssue(2, 'acme/elsewhere');
    world.tracker.transferIssue(3, 'acme/secret', { hidden: true });
    for (let round = 0; round < 2; round += 1) {
      await crawlNextDay(day);
      expect(await rowsOf(world, [1, 2, 3, 4])).toEqual([false, true, false, true]);
    }
    expect(await findLeads(world.database, byEmail(1))).toEqual([]);
    expect(await findLeads(world.database, byEmail(2))).toEqual([2]);
  });

  test('an issue of which the webhook told that it moved keeps its row, wherever it is', async () => {
    const day = await filledWorld(2);
    const { world } = day;
    const { number, title, body, state, createdAt, updatedAt } =
      world.tracker.readIssue(1) ?? expect.fail();
    const issue = {
      number,
      title,
      body: body ?? '',
      state,
      createdAt,
      updatedAt,
      labels: [],
      assignees: [],
      isPullRequest: false,
      author: 'acme-portal[bot]',
    };
    world.tracker.transferIssue(1, 'acme/secret', { hidden: true });
    world.filler.apply({ kind: 'issue', issue, isGone: true, isMoved: true });
    await world.filler.settled();
    const unknown = { ...issue, number: 77, body: leadIssue({ email: emailOf(77) }).body };
    world.filler.apply({ kind: 'issue', issue: unknown, isGone: true, isMoved: true });
    await world.filler.settled();
    await crawlNextDay(day);
    expect(await findLeads(world.database, byEmail(1))).toEqual([1]);
    expect(await findLeads(world.database, byEmail(77))).toEqual([77]);
  });

  test('nothing is removed that could not be asked for, and the crawl ends all the same', async () => {
    const day = await filledWorld(3);
    const { world } = day;
    for (const number of [1, 2]) world.tracker.deleteIssue(number);
    const path = '/issues/\\d+$';
    world.tracker.fault({ kind: 'status', status: 500, path, count: 1000 });
    world.tracker.calls.clear();
    await crawlNextDay(day);
    expect(await rowsOf(world, [1, 2, 3])).toEqual([true, true, true]);
    expect(world.tracker.calls.count({ path: new RegExp(path) })).toBe(1);
    world.tracker.clearFaults();
    await crawlNextDay(day);
    expect(await rowsOf(world, [1, 2, 3])).toEqual([false, false, true]);
  });
});

test('the deletion of a lead that moved away ends as such, also after the next crawl', async () => {
  const day = await filledWorld(1);
  const { world } = day;
  world.tracker.transferIssue(1, 'acme/elsewhere');
  await crawlNextDay(day);
  await world.partners.start();
  const id = await world.send({ email: emailOf(1) });
  const { events } = await world.settled(id);
  expect(events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred', leadIds: ['1'] });
});

describe('an issue that the list left out', () => {
  const issue = plainIssue();

  /** A crawl that met none of the rows 1 and 2; the tracker answers as given. */
  async function settle(
    answerOf: (number: number) => Promise<IssueResult>,
    clock: Clock = createFakeClock(),
  ) {
    const database = temporaryDatabase();
    const directory = await openedDirectory(database, [1, 2]);
    await startCrawl(directory, 1);
    const removed = await settleUnseen(
      {
        store: { ...directory, clock },
        tracker: { readIssue: (number) => answerOf(number) },
        toEntries: async (issues) => issues.map(({ number }) => entry(number)),
        budget: { spend: async () => undefined, askAgain: () => undefined },
        clock,
        log: silentLog,
      },
      new AbortController().signal,
    );
    return { directory, removed, left: (await readUnseen(directory, 0)).numbers };
  }

  test('but that is there keeps its row, and is met', async () => {
    const { directory, removed, left } = await settle(async (number) =>
      number === 1 ? { kind: 'changed', issue } : { kind: 'absent', isMoved: false },
    );
    expect({ removed, left }).toEqual({ removed: 1, left: [] });
    expect([await isKnown(directory, 1), await isKnown(directory, 2)]).toEqual([true, false]);
  });

  test('and that a replica of the tracker has not heard of yet keeps its row', async () => {
    const clock = createFakeClock(SECOND);
    const start = clock.now();
    const isHeardOf = (): boolean => clock.now() - start >= 12 * SECOND;
    const settling = settle(
      async (number) =>
        number === 1 && isHeardOf()
          ? { kind: 'changed', issue }
          : { kind: 'absent', isMoved: false, isDeleted: number === 2 },
      clock,
    );
    const { directory, removed } = await whileTimePasses(clock, settling);
    expect(removed).toBe(1);
    expect([await isKnown(directory, 1), await isKnown(directory, 2)]).toEqual([true, false]);
  });

  test('and that is claimed while it is asked for keeps its row', async () => {
    const database = temporaryDatabase();
    const directory = await openedDirectory(database, [1]);
    await startCrawl(directory, 1);
    expect((await readUnseen(directory, 0)).numbers).toEqual([1]);
    await claimLeads(database, { numbers: [1] });
    await removeEntry(directory, 1);
    expect(await isKnown(directory, 1)).toBe(true);
  });
});
