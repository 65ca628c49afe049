import { expect, test } from 'vitest';

import { createCrawlBudget } from '#leads/directory/crawl-budget.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';

import { createFakeClock } from '../../support/clock.ts';
import { createFakeTracker } from '../fake-tracker.ts';

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

function setUp() {
  const clock = createFakeClock();
  const tracker = createFakeTracker(clock);
  const quotaFor = (remaining: number, ms: number): TrackerQuota => ({
    limit: 5000,
    remaining,
    resetAt: clock.now() + ms,
  });
  const budget = createCrawlBudget({ tracker, clock });
  /** Whether one more call may be made without waiting. */
  const isFree = async (): Promise<boolean> => {
    const call = watch(budget.spend(signal));
    await clock.advance(0);
    return call.isDone;
  };
  return { clock, tracker, quotaFor, budget, isFree };
}

test('a crawl spends nothing that it knows of while no quota is known', async () => {
  const { isFree } = setUp();
  for (let call = 0; call < 10; call += 1) expect(await isFree()).toBe(true);
});

test('a crawl takes half of what was left when it met the window, and waits for the reset', async () => {
  const { clock, tracker, quotaFor, budget, isFree } = setUp();
  tracker.quotaNow = quotaFor(7, 60_000);
  expect([await isFree(), await isFree(), await isFree()]).toEqual([true, true, true]);
  const call = watch(budget.spend(signal));
  await clock.advance(60_999);
  expect(call.isDone).toBe(false);
  await clock.advance(1);
  expect(call.isDone).toBe(true);
});

test('what others spend within the window is not taken from the crawl', async () => {
  const { tracker, quotaFor, isFree } = setUp();
  tracker.quotaNow = quotaFor(4, 60_000);
  expect(await isFree()).toBe(true);
  tracker.quotaNow = { ...tracker.quotaNow, remaining: 0 };
  expect(await isFree()).toBe(true);
  expect(await isFree()).toBe(false);
});

test('a new window brings a new half', async () => {
  const { clock, tracker, quotaFor, isFree } = setUp();
  tracker.quotaNow = quotaFor(2, 60_000);
  expect([await isFree(), await isFree()]).toEqual([true, false]);
  await clock.advance(60_000);
  tracker.quotaNow = quotaFor(4, 3_600_000);
  expect([await isFree(), await isFree(), await isFree()]).toEqual([true, true, false]);
});

test('a crawl that is stopped waits no longer', async () => {
  const { tracker, quotaFor, budget } = setUp();
  tracker.quotaNow = quotaFor(1, 60_000);
  const stopping = new AbortController();
  const spent = budget.spend(stopping.signal);
  stopping.abort(new Error('stop'));
  await expect(spent).rejects.toThrow('stop');
});
