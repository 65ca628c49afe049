import { expect, test } from 'vitest';
import { type InstanceChange, createOutbox } from '#leads/instance-changes.ts';
import { TrackportError } from '#shared/errors.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { EVERYTHING, gone, issueChange } from './support.ts';

function setUp() {
  const clock = createFakeClock();
  const batches: (readonly InstanceChange[])[] = [];
  const failures: LogFields[] = [];
  let isBroken = false;
  const outbox = createOutbox({
    changes: {
      append: async (changes) => {
        if (isBroken) throw new TrackportError('store-unavailable');
        batches.push(changes);
      },
    },
    clock,
    log: { ...silentLog, error: (fields) => failures.push(fields) },
  });
  return {
    batches,
    failures,
    outbox,
    advance: async (ms: number) => {
      await clock.advance(ms);
      await clock.advance(0);
    },
    breakStore: (now: boolean) => {
      isBroken = now;
    },
  };
}

test('the changes of one turn are one batch at once, and what follows is one more after a while', async () => {
  const { batches, outbox, advance } = setUp();
  // As the webhook's events come: each in its own callback.
  for (const number of [1, 2]) setImmediate(() => outbox.put(issueChange(number)));
  await advance(0);
  expect(batches).toEqual([[issueChange(1), issueChange(2)]]);
  outbox.put(issueChange(3));
  await advance(249);
  outbox.put(issueChange(4));
  expect(batches).toHaveLength(1);
  await advance(1);
  expect(batches).toEqual([expect.anything(), [issueChange(3), issueChange(4)]]);
});

test.each<[string, InstanceChange[], InstanceChange]>([
  ['its newest state', [issueChange(1, 5), issueChange(1, 7)], issueChange(1, 7)],
  [
    'the newest, however late the older came',
    [issueChange(1, 7), issueChange(1, 5)],
    issueChange(1, 7),
  ],
  ['that it is gone, by whatever clock', [issueChange(1, 7), gone(1, 5)], gone(1, 5)],
  ['that it is gone, whatever comes then', [gone(1, 5), issueChange(1, 7)], gone(1, 5)],
])('of several changes of an issue one is published: %s', async (_what, put, published) => {
  const { batches, outbox, advance } = setUp();
  for (const change of put) outbox.put(change);
  await advance(0);
  expect(batches).toEqual([[published]]);
});

test('up to a hundred issues go out by their numbers, more as everything', async () => {
  const { batches, outbox, advance } = setUp();
  for (let number = 1; number <= 100; number += 1) outbox.put(issueChange(number));
  await advance(0);
  expect(batches[0]).toHaveLength(100);
  for (let number = 1; number <= 102; number += 1) outbox.put(issueChange(number));
  await advance(250);
  expect(batches[1]).toEqual([EVERYTHING]);
});

test('what the store fails goes out later as everything, and is logged once', async () => {
  const { batches, failures, outbox, advance, breakStore } = setUp();
  breakStore(true);
  outbox.put(issueChange(1));
  await advance(0);
  await advance(1000);
  await advance(1000);
  expect(failures).toEqual([{ error: 'TrackportError(store-unavailable)' }]);
  breakStore(false);
  outbox.put(issueChange(2));
  await advance(1000);
  expect(batches).toEqual([[EVERYTHING]]);
  await advance(1000);
  outbox.put(issueChange(3));
  await advance(0);
  expect(batches[1]).toEqual([issueChange(3)]);
});

test('settling writes what waits without waiting for more, and gives up on a store that fails', async () => {
  const { batches, outbox, advance, breakStore } = setUp();
  outbox.put(issueChange(1));
  await advance(0);
  outbox.put(issueChange(2));
  await outbox.settled();
  expect(batches).toEqual([[issueChange(1)], [issueChange(2)]]);
  breakStore(true);
  outbox.put(issueChange(3));
  await outbox.settled();
  expect(batches).toHaveLength(2);
});
