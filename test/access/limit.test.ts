import { describe, expect, test } from 'vitest';
import { createLimiter, overLimit } from '#access/limit.ts';
import { createFakeClock } from '../support/clock.ts';

describe('the limit per consumer', () => {
  test('counts down, refuses, and starts again after a minute', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(clock);
    expect(limiter.take('a', 2)).toEqual({
      isExceeded: false,
      limitPerMinute: 2,
      remaining: 1,
      resetSeconds: 60,
    });
    await clock.advance(500);
    expect(limiter.take('a', 2)).toMatchObject({
      isExceeded: false,
      remaining: 0,
      resetSeconds: 60,
    });
    await clock.advance(500);
    expect(limiter.take('a', 2)).toMatchObject({
      isExceeded: true,
      remaining: 0,
      resetSeconds: 59,
    });
    await clock.advance(58_999);
    expect(limiter.take('a', 2)).toMatchObject({ isExceeded: true, resetSeconds: 1 });
    await clock.advance(1);
    expect(limiter.take('a', 2)).toMatchObject({
      isExceeded: false,
      remaining: 1,
      resetSeconds: 60,
    });
  });

  test('counts each consumer by itself, with its own limit', () => {
    const limiter = createLimiter(createFakeClock());
    limiter.take('a', 1);
    expect(limiter.take('a', 1).isExceeded).toBe(true);
    expect(limiter.take('b', 3)).toMatchObject({
      isExceeded: false,
      limitPerMinute: 3,
      remaining: 2,
    });
  });

  test('a limit that is lowered in the window never leaves less than nothing', () => {
    const limiter = createLimiter(createFakeClock());
    limiter.take('a', 10);
    limiter.take('a', 10);
    expect(limiter.take('a', 1)).toMatchObject({
      isExceeded: true,
      remaining: 0,
      resetSeconds: 60,
    });
  });

  test('a clock that is set back shuts nobody out for more than a minute', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(clock);
    limiter.take('a', 1);
    clock.set(clock.now() - 3_600_000);
    expect(limiter.take('a', 1)).toMatchObject({ isExceeded: true, resetSeconds: 60 });
    await clock.advance(60_000);
    expect(limiter.take('a', 1)).toMatchObject({ isExceeded: false, resetSeconds: 60 });
  });

  test('what is over it is 429 with the seconds to wait', () => {
    const limiter = createLimiter(createFakeClock());
    limiter.take('a', 1);
    expect(overLimit(limiter.take('a', 1))).toMatchObject({
      code: 'quota-exceeded',
      retryAfterSeconds: 60,
    });
  });
});
