import type { TrackerTime } from '#shared/clock.ts';

/** This machine's and the tracker's. */
export type FakeClock = TrackerTime & {
  /** Lets time pass, and wakes sleepers in order. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day, as an operator would; no time passes. */
  set(now: number): void;
};

/** A monotonic clock tells no date, so that nobody can take it for one. */
const MONOTONIC_START_MS = 1000;

/** A clock that stands still until it is moved. */
export function createFakeClock(start = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  let now = start;
  let monotonicMs = MONOTONIC_START_MS;
  const sleepers: { at: number; wake: () => void }[] = [];
  return {
    isTrackers: true,
    now: () => now,
    monotonicMs: () => monotonicMs,
    sleep: async (ms, { signal } = {}) => {
      signal?.throwIfAborted();
      if (ms <= 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      sleepers.push({ at: monotonicMs + ms, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      await promise;
    },
    advance: async (ms) => {
      now += ms;
      monotonicMs += ms;
      sleepers.sort((left, right) => left.at - right.at);
      while (sleepers[0] && sleepers[0].at <= monotonicMs) sleepers.shift()?.wake();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
    set: (to) => {
      now = to;
    },
  };
}

/** Result of `work`, for work that waits on the clock between real calls. */
export async function whileTimePasses<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const end = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([end, clock.advance(100).then(() => false)])));
  return work;
}
