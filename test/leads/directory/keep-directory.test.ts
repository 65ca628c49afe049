import { onTestFinished, expect, test } from 'vitest';
import { createDirectoryKeeper } from '#leads/directory/crawl-directory.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  const needs = {
    isFollowed: false,
    hasPartners: false,
    failure: undefined as TrackportError | undefined,
    duringCrawl: async (): Promise<void> => undefined,
  };
  const done: string[] = [];
  let failure: string | undefined;
  const keeper = createDirectoryKeeper({
    isFollowed: async () => needs.isFollowed,
    feedIntervalMs: 20 * SECOND,
    hasPartners: () => needs.hasPartners,
    isComplete: () => true,
    crawl: async () => {
      await needs.duringCrawl();
      if (needs.failure) throw needs.failure;
      done.push('crawl');
    },
    catchUp: async () => void done.push('catch up'),
    onEnd: (code) => {
      failure = code;
    },
    clock,
    log: silentLog,
  });
  onTestFinished(() => keeper.stop());
  const after = async (ms: number): Promise<string[]> => {
    await clock.advance(ms);
    return done.splice(0);
  };
  return { keeper, needs, after, failure: () => failure };
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
  needs.hasPartners = true;
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

test('reads it for those who began to follow while a crawl went on', async () => {
  const { keeper, needs, after } = setUp();
  needs.hasPartners = true;
  needs.duringCrawl = async () => {
    needs.isFollowed = true;
  };
  keeper.start();
  expect(await after(0)).toEqual(['crawl', 'catch up']);
});

test('looks again at once when it was started during a look that failed, however long that is to wait', async () => {
  const { keeper, needs, after } = setUp();
  needs.hasPartners = true;
  needs.failure = new TrackportError('tracker-unavailable', { retryAfterSeconds: 3600 });
  needs.duringCrawl = async () => {
    await Promise.resolve();
    needs.duringCrawl = async () => {
      needs.failure = undefined;
    };
    keeper.start(); // as with another credential
  };
  keeper.start();
  expect(await after(0)).toEqual(['crawl']);
});

test('tells of a failure until it has gone well again', async () => {
  const { keeper, needs, after, failure } = setUp();
  Object.assign(needs, { hasPartners: true, failure: new TrackportError('tracker-unavailable') });
  keeper.start();
  await after(0);
  expect(failure()).toBe('tracker-unavailable');
  needs.failure = undefined;
  await after(10 * SECOND);
  expect(failure()).toBeUndefined();
});
