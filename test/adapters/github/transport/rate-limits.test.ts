import { describe, expect, test } from 'vitest';

import { createRateLimits } from '#adapters/github/transport/rate-limits.ts';
import type { Headers } from '#adapters/github/transport/response.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { createFakeClock } from '../../../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  const limits = createRateLimits(clock);
  const inSeconds = (seconds: number): string => String(clock.now() / SECOND + seconds);
  const quota = (remaining: number, resetsIn = 600, more: Headers = {}): Headers => ({
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': inSeconds(resetsIn),
    ...more,
  });
  const note = (status: number, headers: Headers = {}, saysLimited = false): boolean =>
    limits.note({ status, headers, resource: 'core', saysLimited });
  const secondsThrottled = (resource = 'core'): number | undefined => {
    try {
      limits.assertAllowed(resource);
      return 0;
    } catch (error) {
      return (error as { retryAfterSeconds?: number }).retryAfterSeconds;
    }
  };
  return { clock, limits, quota, note, secondsThrottled };
}

describe('rate limits', () => {
  test('primary: closed until the reset, then open', async () => {
    const { clock, quota, note, secondsThrottled } = setUp();
    expect(note(403, quota(0, 90))).toBe(true);
    expect(secondsThrottled()).toBe(90);
    await clock.advance(90 * SECOND - 1);
    expect(secondsThrottled()).toBe(1);
    await clock.advance(1);
    expect(secondsThrottled()).toBe(0);
  });

  test('the last answer of a window closes it before anything is refused', () => {
    const { quota, note, secondsThrottled } = setUp();
    expect(note(200, quota(0, 30))).toBe(false);
    expect(secondsThrottled()).toBe(30);
  });

  test('secondary: retry-after comes before everything else', () => {
    const { quota, note, secondsThrottled } = setUp();
    expect(note(403, quota(4000, 600, { 'retry-after': '17' }))).toBe(true);
    expect(secondsThrottled()).toBe(17);
    expect(secondsThrottled('graphql')).toBe(17);
  });

  test('retry-after may be a date', () => {
    const { clock, note, secondsThrottled } = setUp();
    note(429, { 'retry-after': new Date(clock.now() + 5000).toUTCString() });
    expect(secondsThrottled()).toBe(5);
  });

  test.each([
    ['zero', '0', 1],
    ['a week', '604800', 86_400],
    ['nonsense', 'soon', 60],
    ['blank', ' ', 60],
  ])('retry-after that is %s is bounded', (_, header, seconds) => {
    const { note, secondsThrottled } = setUp();
    note(429, { 'retry-after': header });
    expect(secondsThrottled()).toBe(seconds);
  });

  test('without headers the pause is a minute and doubles to 16', async () => {
    const { clock, note, secondsThrottled } = setUp();
    const pauses: (number | undefined)[] = [];
    for (let round = 0; round < 6; round += 1) {
      expect(note(429)).toBe(true);
      pauses.push(secondsThrottled());
      await clock.advance(16 * MINUTE);
    }
    expect(pauses).toEqual([60, 120, 240, 480, 960, 960]);
    note(200);
    note(429);
    expect(secondsThrottled()).toBe(60);
  });

  test('a pause lasts as long as it says, whatever the time of day is set to', async () => {
    const { clock, note, secondsThrottled } = setUp();
    note(429, { 'retry-after': '90' });
    clock.set(clock.now() - 86_400_000);
    expect(secondsThrottled()).toBe(90);
    await clock.advance(90 * SECOND);
    expect(secondsThrottled()).toBe(0);
  });

  test('calls that are refused together lengthen the pause once', () => {
    const { note, secondsThrottled } = setUp();
    for (let call = 0; call < 20; call += 1) note(403, {}, true);
    expect(secondsThrottled()).toBe(60);
  });

  test('a missing permission is no limit', () => {
    const { quota, note, secondsThrottled } = setUp();
    expect(note(403, quota(4000))).toBe(false);
    expect(note(403)).toBe(false);
    expect(secondsThrottled()).toBe(0);
  });

  test('GraphQL refuses with a success', () => {
    const { limits } = setUp();
    expect(limits.note({ status: 200, headers: {}, resource: 'graphql', saysLimited: true })).toBe(
      true,
    );
    expect(() => limits.assertAllowed('core')).toThrow('limited');
  });

  test('each quota is closed for itself', () => {
    const { quota, note, secondsThrottled } = setUp();
    note(200, quota(0, 600, { 'x-ratelimit-resource': 'graphql' }));
    expect(secondsThrottled('core')).toBe(0);
    expect(secondsThrottled('graphql')).toBe(600);
  });

  test('a reset that lies too far ahead is taken as one window', () => {
    const { quota, note, secondsThrottled } = setUp();
    note(403, quota(0, 86_400));
    expect(secondsThrottled()).toBe(3600);
  });

  test('a reset that nobody lives to see counts as an hour from now, for the quota, too', async () => {
    const { clock, limits, quota, note, secondsThrottled } = setUp();
    note(200, { ...quota(0), 'x-ratelimit-reset': '99999999999' });
    expect(secondsThrottled()).toBe(3600);
    expect(limits.quota()).toMatchObject({ remaining: 0, resetAt: clock.now() + 3600 * SECOND });
    await clock.advance(3600 * SECOND);
    expect(secondsThrottled()).toBe(0);
    expect(limits.quota()).toMatchObject({ remaining: 5000 });
  });

  test('a reset in the past still pauses after a refusal', () => {
    const { quota, note, secondsThrottled } = setUp();
    note(403, quota(0, -5));
    expect(secondsThrottled()).toBe(60);
  });
});

describe('the quota', () => {
  test('is unknown until an answer tells it, and unmoved by answers without it', () => {
    const { limits, quota, note } = setUp();
    expect(limits.quota()).toBeUndefined();
    note(200, { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': 'many' });
    expect(limits.quota()).toBeUndefined();
    note(200, quota(4321));
    note(502);
    expect(limits.quota()).toMatchObject({ limit: 5000, remaining: 4321 });
  });

  test('does not grow when an answer was overtaken', () => {
    const { limits, quota, note } = setUp();
    note(200, quota(10));
    note(200, quota(12));
    expect(limits.quota()?.remaining).toBe(10);
  });

  test('is whole again after the reset', async () => {
    const { clock, limits, quota, note } = setUp();
    note(200, quota(10, 60));
    await clock.advance(60 * SECOND);
    expect(limits.quota()?.remaining).toBe(5000);
    note(200, quota(4999, 3600));
    expect(limits.quota()?.remaining).toBe(4999);
  });
});
