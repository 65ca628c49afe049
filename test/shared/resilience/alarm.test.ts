import { expect, test } from 'vitest';
import { createAlarm } from '#shared/resilience/background.ts';
import { createFakeClock } from '../../support/clock.ts';

const { signal } = new AbortController();

test('a ring ends the wait, and one that came before it too', async () => {
  const alarm = createAlarm(createFakeClock());
  const waiting = alarm.wait(1000, signal);
  alarm.ring();
  await expect(waiting).resolves.toBeUndefined();
  alarm.ring();
  await expect(alarm.wait(1000, signal)).resolves.toBeUndefined();
});

test('without a ring the wait ends with its time', async () => {
  const clock = createFakeClock();
  let isOver = false;
  const waiting = (async () => {
    await createAlarm(clock).wait(1000, signal);
    isOver = true;
  })();
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await waiting;
});

test('an abort ends the wait without an error', async () => {
  const stop = new AbortController();
  const waiting = createAlarm(createFakeClock()).wait(1000, stop.signal);
  stop.abort();
  await expect(waiting).resolves.toBeUndefined();
});
