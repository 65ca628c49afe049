import { expect, test } from 'vitest';
import { createAlarm, createDrain } from '#shared/resilience/background.ts';
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

function createQueue() {
  const waiting: string[] = [];
  const done: string[] = [];
  const work = async (): Promise<void> => void done.push(...waiting.splice(0, 1));
  const drain = createDrain({ hasWork: () => waiting.length > 0, work });
  const put = (item: string): void => {
    waiting.push(item);
    drain.start();
  };
  return { put, done, settled: () => drain.settled() };
}

test('does all that was put, one piece of work after the other', async () => {
  const { put, done, settled } = createQueue();
  for (const item of ['a', 'b', 'c']) put(item);
  await settled();
  expect(done).toEqual(['a', 'b', 'c']);
});

test('misses nothing that is put while it comes to its end', async () => {
  for (let ticks = 0; ticks < 10; ticks += 1) {
    const { put, done } = createQueue();
    put('first');
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    put('second');
    await new Promise((resolve) => setImmediate(resolve));
    expect([ticks, done]).toEqual([ticks, ['first', 'second']]);
  }
});

test('hurries while somebody waits for the end, and not when it is started again', async () => {
  const hurried: boolean[] = [];
  let left = 0;
  const drain = createDrain({
    hasWork: () => left > 0,
    work: async (hurry) => {
      left -= 1;
      await new Promise((resolve) => setImmediate(resolve));
      hurried.push(hurry.aborted);
    },
  });
  left = 1;
  drain.start();
  await drain.settled();
  left = 1;
  drain.start();
  while (hurried.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(hurried).toEqual([true, false]);
});

test('has nothing to wait for where nothing was put', async () => {
  const drain = createDrain({ hasWork: () => false, work: () => Promise.reject(new Error('no')) });
  drain.start();
  await expect(drain.settled()).resolves.toBeUndefined();
});
