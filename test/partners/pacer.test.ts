import { expect, test } from 'vitest';
import { createPacer } from '#partners/pacer.ts';
import { HOUR } from '#shared/clock.ts';
import { createFakeClock } from '../support/clock.ts';

const { signal } = new AbortController();

test('writes start at least the interval apart, however many ask at once', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  const startedAt: number[] = [];
  const writes = [1, 2, 3].map(async () => {
    await pacer.turn(signal);
    startedAt.push(clock.now());
  });
  await clock.advance(0);
  for (let step = 0; step < 20; step += 1) await clock.advance(100);
  await Promise.all(writes);
  expect(startedAt).toEqual([0, 1000, 2000]);
});

test('a write after a long time waits for nothing', async () => {
  const clock = createFakeClock(0);
  const pacer = createPacer(clock, 1000);
  await pacer.turn(signal);
  await clock.advance(5000);
  await pacer.turn(signal);
  expect(clock.now()).toBe(5000);
});

test('a clock that is set back makes no write wait for longer', async () => {
  const clock = createFakeClock(HOUR);
  const pacer = createPacer(clock, 1000);
  await pacer.turn(signal);
  await clock.advance(-HOUR);
  const turn = pacer.turn(signal);
  await clock.advance(1000);
  await turn;
  expect(clock.now()).toBe(1000);
});

test('a worker that stops begins no write', async () => {
  const stopped = AbortSignal.abort(new Error('stop'));
  await expect(createPacer(createFakeClock(), 0).turn(stopped)).rejects.toThrow('stop');
});
