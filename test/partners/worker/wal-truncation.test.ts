import { expect, test } from 'vitest';
import { createWalTruncation } from '#partners/worker/loops.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

/** `results`: what the store says to each time; an error is thrown. */
function createWorld(results: (boolean | Error)[]) {
  const clock = createFakeClock();
  let times = 0;
  const truncateWal = async (): Promise<boolean> => {
    const result = results[times++] ?? true;
    if (result instanceof Error) throw result;
    return result;
  };
  const walTruncation = createWalTruncation({ db: { truncateWal }, clock, log: silentLog });
  return { clock, walTruncation, times: () => times };
}

test('truncates first of all: an earlier process may have died before it could', async () => {
  const { walTruncation, times } = createWorld([]);
  expect(walTruncation.waitMs()).toBe(1000);
  await walTruncation.run();
  expect([times(), walTruncation.waitMs()]).toEqual([1, Infinity]);
});

test('truncates only when something was dropped, and once a second', async () => {
  const { clock, walTruncation, times } = createWorld([]);
  await walTruncation.run();
  await clock.advance(5000);
  await walTruncation.run();
  expect(times()).toBe(1);
  walTruncation.noteDropped();
  await walTruncation.run();
  walTruncation.noteDropped();
  await walTruncation.run();
  expect(times()).toBe(2);
  await clock.advance(1000);
  await walTruncation.run();
  expect(times()).toBe(3);
});

test.each([['is held up', false] as const, ['fails', new Error('away')] as const])(
  'tries again until the store has done it: one that %s',
  async (_name, result) => {
    const { clock, walTruncation, times } = createWorld([result, result, true]);
    for (let tries = 0; tries < 5; tries += 1) {
      await walTruncation.run();
      await clock.advance(1000);
    }
    expect([times(), walTruncation.waitMs()]).toEqual([3, Infinity]);
  },
);

test('truncates in time also when the clock was set back', async () => {
  const { clock, walTruncation, times } = createWorld([]);
  await walTruncation.run();
  walTruncation.noteDropped();
  clock.set(0);
  await clock.advance(1000);
  await walTruncation.run();
  expect(times()).toBe(2);
});
