import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Issue } from '#leads/lead-tracker.ts';
import { mapIssues } from '#leads/model/map-issues.ts';

const issues = (count: number): Issue[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    title: '',
    body: '',
    state: 'open',
    labels: [],
    assignees: [],
    createdAt: 0,
    updatedAt: 0,
    isPullRequest: false,
  }));

/** Holds the event loop as a hostile body does. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('others get their turn while a page of slow bodies is read', async () => {
  let turns = 0;
  const watching = new AbortController();
  const watched = countTurns(watching.signal, () => {
    turns += 1;
  });
  const mapped = await mapIssues(issues(5), ({ number }) => {
    hold(15);
    return number;
  });
  watching.abort();
  await watched;
  expect(mapped).toEqual([1, 2, 3, 4, 5]);
  expect(turns).toBeGreaterThanOrEqual(4);
});

async function countTurns(signal: AbortSignal, count: () => void): Promise<void> {
  while (!signal.aborted) {
    await setImmediate();
    count();
  }
}
