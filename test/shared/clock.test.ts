import { describe, expect, test, vi } from 'vitest';
import { systemClock, untilAborted } from '#shared/clock.ts';

test('the monotonic clock goes on when somebody sets the time of day', () => {
  const before = systemClock.monotonicMs();
  vi.setSystemTime(0);
  try {
    expect(systemClock.now()).toBeLessThan(60_000);
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before);
    expect(systemClock.monotonicMs()).toBeLessThan(before + 60_000);
  } finally {
    vi.useRealTimers();
  }
});

test('waiting for no time at all ends at once', async () => {
  await expect(systemClock.sleep(-1)).resolves.toBeUndefined();
});

test('an aborted wait ends with the signal’s reason, before or after it began', async () => {
  const controller = new AbortController();
  const waiting = systemClock.sleep(60_000, { signal: controller.signal });
  controller.abort(new Error('over'));
  await expect(waiting).rejects.toThrow('over');
  await expect(systemClock.sleep(60_000, { signal: controller.signal })).rejects.toThrow('over');
});

const open = new AbortController().signal;

describe('waiting until aborted', () => {
  test('gives what the promise gives', async () => {
    await expect(untilAborted(Promise.resolve(1), open)).resolves.toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), open)).rejects.toThrow('no');
  });

  test('ends with the signal, before or after it began', async () => {
    const { promise } = Promise.withResolvers<never>();
    const controller = new AbortController();
    const waiting = untilAborted(promise, controller.signal);
    controller.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(untilAborted(promise, controller.signal)).rejects.toThrow('over');
  });

  test('leaves no rejection unhandled that comes after the end', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = untilAborted(promise, AbortSignal.abort(new Error('over')));
    await expect(waiting).rejects.toThrow('over');
    reject(new Error('later'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  });
});
