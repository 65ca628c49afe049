import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { TrackportError } from '#shared/errors.ts';
import {
  doublingSchedule,
  jitteredWaitMsAfter,
  longestJitteredWaitMs,
  retryAfterMsOf,
  waitMsAfter,
} from '#shared/resilience/backoff.ts';

test.each([
  [1000, 30_000, [1000, 2000, 4000, 8000, 16_000, 30_000]],
  [1000, 16_000, [1000, 2000, 4000, 8000, 16_000]],
  [1000, 1000, [1000]],
])('waits double from %i to %i ms and go no further', (firstMs, maxMs, waits) => {
  expect(doublingSchedule(firstMs, maxMs)).toEqual(waits);
});

test('work that is never given up waits as long as the last time, however often it fails', () => {
  const waits = [1, 2, 3, 4, 1e9].map((failures) => waitMsAfter([5, 10, 20], failures));
  expect(waits).toEqual([5, 10, 20, 20, 20]);
});

describe('the retry schedule', () => {
  const schedule = [5000, 30_000];

  test('waits each time within 20 % of the plan', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
        for (const [index, planned] of schedule.entries()) {
          const wait = jitteredWaitMsAfter(schedule, index + 1, () => random) ?? 0;
          expect(wait).toBeGreaterThanOrEqual(planned * 0.8);
          expect(wait).toBeLessThanOrEqual(planned * 1.2);
        }
      }),
    );
    expect(longestJitteredWaitMs(schedule)).toBe(36_000);
    expect(longestJitteredWaitMs([])).toBe(0);
    expect(jitteredWaitMsAfter(schedule, 1, () => 0)).toBe(4000);
    expect(jitteredWaitMsAfter(schedule, 1, () => 0.999_999)).toBe(6000);
  });

  test('has no try after the last', () => {
    expect(jitteredWaitMsAfter(schedule, 3, () => 0.5)).toBeUndefined();
  });
});

test('the wait that a failure names is told in milliseconds, and none as 0', () => {
  expect(retryAfterMsOf(new TrackportError('tracker-unavailable', { retryAfterSeconds: 7 }))).toBe(
    7000,
  );
  expect(retryAfterMsOf(new TrackportError('tracker-unavailable'))).toBe(0);
  expect(retryAfterMsOf(new Error('no code'))).toBe(0);
});
