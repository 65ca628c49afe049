import { expect, test } from 'vitest';

import { walkChanges } from '#leads/directory/walk-changes.ts';
import type { IssuePage } from '#leads/lead-tracker.ts';

import { createFakeClock } from '../../support/clock.ts';
import { createFakeTracker } from '../fake-tracker.ts';

const START = Date.parse('2026-01-01');

function setUp(issues: number) {
  const tracker = createFakeTracker(createFakeClock());
  for (let at = 0; at < issues; at += 1)
    tracker.open({ updatedAt: START + at * 1000, isPullRequest: at % 10 === 0 });
  const pages: IssuePage[] = [];
  const numbers = (): number[] => pages.flatMap((page) => page.issues.map(({ number }) => number));
  return { tracker, pages, numbers };
}

test('a walk reads every issue, whatever its labels and state, longest unchanged first', async () => {
  const { tracker, pages, numbers } = setUp(250);
  tracker.issues.forEach((issue) => {
    tracker.issues.set(issue.number, { ...issue, labels: [], state: 'closed' });
  });
  await walkChanges(tracker, 0, async (page) => void pages.push(page));
  expect(pages.map(({ issues }) => issues.length)).toEqual([100, 100, 50]);
  expect(numbers()).toEqual(Array.from({ length: 250 }, (_, at) => at + 1));
});

test('a walk from an instant leaves out what has not changed since', async () => {
  const { tracker, pages, numbers } = setUp(20);
  await walkChanges(tracker, START + 15_000, async (page) => void pages.push(page));
  expect(numbers()).toEqual([16, 17, 18, 19, 20]);
});

test('an issue that changes meanwhile is met again, and none is missed', async () => {
  const { tracker, pages, numbers } = setUp(150);
  await walkChanges(tracker, 0, async (page) => {
    pages.push(page);
    if (pages.length === 1) tracker.change(1, { updatedAt: START + 1_000_000 });
  });
  expect(new Set(numbers()).size).toBe(150);
  expect(numbers().filter((number) => number === 1)).toHaveLength(2);
});

test('a page is stored before the next is read, and a failure to store it ends the walk', async () => {
  const { tracker } = setUp(150);
  const full = new Error('full');
  await expect(walkChanges(tracker, 0, () => Promise.reject(full))).rejects.toBe(full);
  expect(tracker.calls).toHaveLength(1);
});
