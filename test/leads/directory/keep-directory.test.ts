import { onTestFinished, expect, test } from 'vitest';
import { createDirectoryKeeper } from '#leads/directory/keep-directory.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  const needs = { isFollowed: false, isMatched: false };
  const done: string[] = [];
  const keeper = createDirectoryKeeper({
    feedStore: { isFollowed: async () => needs.isFollowed },
    feedIntervalMs: 20 * SECOND,
    isMatched: () => needs.isMatched,
    isComplete: () => true,
    crawl: async () => void done.push('crawl'),
    catchUp: async () => void done.push('catch up'),
    onFailure: (code) => void done.push(code),
    clock,
    log: silentLog,
  });
  onTestFinished(() => keeper.stop());
  const after = async (ms: number): Promise<string[]> => {
    await clock.advance(ms);
    return done.splice(0);
  };
  return { keeper, needs, after };
}

test('asks the tracker nothing where nobody needs the directory', async () => {
  const { keeper, after } = setUp();
  keeper.start();
  expect(await after(10 * MINUTE)).toEqual([]);
});

test('looks at once when it is started again, as with the first partner', async () => {
  const { keeper, needs, after } = setUp();
  keeper.start();
  await after(SECOND);
  needs.isMatched = true;
  keeper.start();
  expect(await after(SECOND)).toEqual(['crawl']);
});

test('reads what changed for those who follow, once in each interval', async () => {
  const { keeper, needs, after } = setUp();
  needs.isFollowed = true;
  keeper.start();
  expect(await after(0)).toEqual(['crawl', 'catch up']);
  expect(await after(19 * SECOND)).toEqual([]);
  expect(await after(SECOND)).toEqual(['crawl', 'catch up']);
});
