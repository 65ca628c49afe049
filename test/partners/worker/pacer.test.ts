import { expect, test } from 'vitest';
import { createPacer } from '#partners/worker/pacer.ts';
import { HOUR } from '#shared/clock.ts';
import { createFakeClock } from '../../support/clock.ts';

const { signal } = new AbortController();

test('writes start at least the interval apart, however long each takes', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  const startedAt: number[] = [];
  const writing = (async () => {
    for (const takesMs of [300, 2500, 0]) {
      await pacer.turn(signal);
      await clock.sleep(100); // what the write depends on is read
      pacer.noteWrite();
      startedAt.push(clock.now());
      await clock.sleep(takesMs);
    }
  })();
  await clock.advance(0);
  for (let step = 0; step < 60; step += 1) await clock.advance(100);
  await writing;
  expect(startedAt).toEqual([100, 1200, 3800]);
});

test('a turn that is not used for a write makes nobody wait', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  await pacer.turn(signal);
  await pacer.turn(signal);
  expect(clock.now()).toBe(0);
});

test('a clock that is set back makes no write wait for longer', async () => {
  const clock = createFakeClock(HOUR);
  const pacer = createPacer(clock, 1000);
  pacer.noteWrite();
  clock.set(0);
  const turn = pacer.turn(signal);
  await clock.advance(1000);
  await turn;
  expect(clock.now()).toBe(1000);
});

test('a worker that stops begins no write', async () => {
  const stopped = AbortSignal.abort(new Error('stop'));
  await expect(createPacer(createFakeClock(), 0).turn(stopped)).rejects.toThrow('stop');
});
