import { expect, test } from 'vitest';

import { createCircuitBreaker } from '#shared/resilience/backoff.ts';
import { createFakeClock } from '../../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  return { clock, breaker: createCircuitBreaker({ clock, schedule: [1000, 2000, 5000] }) };
}

test('begins closed and stays so while calls succeed', () => {
  const { breaker } = setUp();
  breaker.noteSuccess();
  expect(breaker.waitMs()).toBe(0);
});

test('is opened by one failure, for the schedule’s wait, and then half-open', async () => {
  const { breaker, clock } = setUp();
  breaker.noteFailure();
  expect(breaker.waitMs()).toBe(1000);
  await clock.advance(999);
  expect(breaker.waitMs()).toBe(1);
  await clock.advance(1);
  expect(breaker.waitMs()).toBe(0);
});

test('half-open: a failure opens it for longer each time, up to the last wait', async () => {
  const { breaker, clock } = setUp();
  const waits: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    breaker.noteFailure();
    waits.push(breaker.waitMs());
    await clock.advance(breaker.waitMs());
  }
  expect(waits).toEqual([1000, 2000, 5000, 5000, 5000]);
});

test('half-open: a success closes it, and the schedule starts again', async () => {
  const { breaker, clock } = setUp();
  breaker.noteFailure();
  await clock.advance(1000);
  breaker.noteSuccess();
  expect(breaker.waitMs()).toBe(0);
  breaker.noteFailure();
  expect(breaker.waitMs()).toBe(1000);
});

test('open: failures of calls that were under way neither prolong the wait nor count', async () => {
  const { breaker, clock } = setUp();
  for (let call = 0; call < 20; call += 1) breaker.noteFailure(60_000 * call);
  expect(breaker.waitMs()).toBe(1000);
  await clock.advance(1000);
  breaker.noteFailure();
  expect(breaker.waitMs()).toBe(2000);
});

test('open: a success of a call that was under way does not end the wait', async () => {
  const { breaker, clock } = setUp();
  breaker.noteFailure();
  breaker.noteSuccess();
  expect(breaker.waitMs()).toBe(1000);
  await clock.advance(1000);
  expect(breaker.waitMs()).toBe(0);
});

test('a failure that asks for a longer wait gets it, one that asks for less does not', async () => {
  const { breaker, clock } = setUp();
  breaker.noteFailure(30_000);
  expect(breaker.waitMs()).toBe(30_000);
  await clock.advance(30_000);
  breaker.noteFailure(1);
  expect(breaker.waitMs()).toBe(2000);
});
