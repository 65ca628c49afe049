import type { Clock } from '#shared/clock.ts';

export type FakeClock = Clock & {
  /** Moves time and wakes sleepers, in order. */
  advance(ms: number): Promise<void>;
};

/** A clock that stands still until it is moved. */
export function createFakeClock(start = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  let now = start;
  const sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: async (ms, { signal } = {}) => {
      signal?.throwIfAborted();
      if (ms <= 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      sleepers.push({ at: now + ms, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      await promise;
    },
    advance: async (ms) => {
      now += ms;
      sleepers.sort((left, right) => left.at - right.at);
      while (sleepers[0] && sleepers[0].at <= now) sleepers.shift()?.wake();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
  };
}
