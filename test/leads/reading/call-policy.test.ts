import { describe, expect, test } from 'vitest';

import { createCallPolicy } from '#leads/reading/call-policy.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { TrackportError } from '#shared/errors.ts';

import { createFakeClock } from '../../support/clock.ts';
import { trackerDown } from '../fake-tracker.ts';

function setUp(remaining?: number) {
  const clock = createFakeClock();
  const resetAt = clock.now() + 60_000;
  const quota: TrackerQuota | undefined =
    remaining === undefined ? undefined : { limit: 100, remaining, resetAt };
  const policy = createCallPolicy({ clock, quota: () => quota });
  let calls = 0;
  const run = async (failure?: Error): Promise<void> => {
    await policy.run(async () => {
      calls += 1;
      if (failure) throw failure;
    });
  };
  return { clock, policy, run, calls: () => calls };
}

const refusal = (retryAfterSeconds: number) =>
  expect.objectContaining({ code: 'tracker-unavailable', retryAfterSeconds });

describe('while the tracker fails', () => {
  test('no call is made for a second, then two, and the caller hears how long', async () => {
    const { clock, policy, run, calls } = setUp();
    await expect(run(trackerDown())).rejects.toThrow();
    expect(policy.isAllowed()).toBe(false);
    await expect(run()).rejects.toEqual(refusal(1));
    await clock.advance(1000);
    await expect(run(trackerDown())).rejects.toThrow();
    await expect(run()).rejects.toEqual(refusal(2));
    expect(calls()).toBe(2);
    await clock.advance(2000);
    await run();
    expect([policy.isAllowed(), calls()]).toEqual([true, 3]);
  });

  test('a time that the tracker names is waited for', async () => {
    const { clock, run } = setUp();
    await expect(run(trackerDown(90))).rejects.toThrow();
    await expect(run()).rejects.toEqual(refusal(90));
    await clock.advance(90_000);
    await expect(run()).resolves.toBeUndefined();
  });

  test('another credential is tried at once, whatever a call of the former one comes to', async () => {
    const { policy, run, calls } = setUp();
    await expect(run(trackerDown(3600))).rejects.toThrow();
    policy.askAgain();
    await run();
    const late = Promise.withResolvers<never>();
    const underWay = policy.run(() => late.promise);
    policy.askAgain();
    late.reject(trackerDown(3600));
    await expect(underWay).rejects.toThrow();
    await run();
    expect(calls()).toBe(3);
  });

  test('a response that cannot be understood stops no other call', async () => {
    const { policy, run } = setUp();
    const nonsense = new TrackportError('tracker-failed');
    await expect(run(nonsense)).rejects.toBe(nonsense);
    expect(policy.isAllowed()).toBe(true);
  });
});

describe('the quota', () => {
  test.each([
    [undefined, 15_000, true],
    [20, 15_000, true],
    [19, 60_000, true],
    [10, 60_000, true],
    [9, 60_000, false],
  ])(
    'with %s of 100 calls left: fresh for %i ms, allowed: %s',
    (remaining, freshForMs, isAllowed) => {
      const { policy } = setUp(remaining);
      expect(policy.stretch(15_000)).toBe(freshForMs);
      expect(policy.isAllowed()).toBe(isAllowed);
    },
  );

  test('that reads have used up refuses them without a call, until its reset', async () => {
    const { clock, policy, run, calls } = setUp(0);
    await expect(run()).rejects.toEqual(refusal(60));
    expect(calls()).toBe(0);
    await clock.advance(60_000);
    await run();
    expect([policy.stretch(15_000), calls()]).toEqual([15_000, 1]);
  });
});
