import { expect, test } from 'vitest';
import { createScrubber } from '#partners/worker/scrubber.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

/** `results`: what the store says to each scrub; an error is thrown. */
function createWorld(results: (boolean | Error)[]) {
  const clock = createFakeClock();
  let scrubs = 0;
  const scrub = async (): Promise<boolean> => {
    const result = results[scrubs++] ?? true;
    if (result instanceof Error) throw result;
    return result;
  };
  const scrubber = createScrubber({ store: { scrub }, clock, log: silentLog });
  return { clock, scrubber, scrubs: () => scrubs };
}

test('scrubs first of all: an earlier process may have died before it could', async () => {
  const { scrubber, scrubs } = createWorld([]);
  expect(scrubber.waitMs()).toBe(1000);
  await scrubber.scrub();
  expect([scrubs(), scrubber.waitMs()]).toEqual([1, Infinity]);
});

test('scrubs only when something was dropped, and once a second', async () => {
  const { clock, scrubber, scrubs } = createWorld([]);
  await scrubber.scrub();
  await clock.advance(5000);
  await scrubber.scrub();
  expect(scrubs()).toBe(1);
  scrubber.noteDropped();
  await scrubber.scrub();
  scrubber.noteDropped();
  await scrubber.scrub();
  expect(scrubs()).toBe(2);
  await clock.advance(1000);
  await scrubber.scrub();
  expect(scrubs()).toBe(3);
});

test.each([['is held up', false] as const, ['fails', new Error('away')] as const])(
  'tries again until the store has done it: one that %s',
  async (_name, result) => {
    const { clock, scrubber, scrubs } = createWorld([result, result, true]);
    for (let tries = 0; tries < 5; tries += 1) {
      await scrubber.scrub();
      await clock.advance(1000);
    }
    expect([scrubs(), scrubber.waitMs()]).toEqual([3, Infinity]);
  },
);

test('scrubs in time also when the clock was set back', async () => {
  const { clock, scrubber, scrubs } = createWorld([]);
  await scrubber.scrub();
  scrubber.noteDropped();
  clock.set(0);
  await clock.advance(1000);
  await scrubber.scrub();
  expect(scrubs()).toBe(2);
});
