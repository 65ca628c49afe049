import { expect, test } from 'vitest';
import { createLastKnown } from '#shared/resilience/last-known.ts';
import { createFakeClock } from '../../support/clock.ts';

test('says what was read last, and looks again when that is too old', async () => {
  const clock = createFakeClock();
  let reads = 0;
  const read = async () => (reads += 1);
  const known = createLastKnown({ read, clock, everyMs: 1000 });
  expect(known()).toBeUndefined();
  await clock.advance(999);
  expect([known(), reads]).toEqual([1, 1]);
  await clock.advance(1);
  expect(known()).toBe(1);
  await clock.advance(0);
  expect([known(), reads]).toEqual([2, 2]);
});

test('a read that fails leaves what is known', async () => {
  const clock = createFakeClock();
  let fails = false;
  const read = async () => (fails ? Promise.reject(new Error('gone')) : 'known');
  const known = createLastKnown({ read, clock, everyMs: 1000 });
  known();
  await clock.advance(1000);
  fails = true;
  expect(known()).toBe('known');
  await clock.advance(1000);
  expect(known()).toBe('known');
});
