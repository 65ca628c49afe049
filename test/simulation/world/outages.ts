import { HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import type { World } from './world.ts';

/** Longer than a service waits for the lock. */
const LOCKED_MS = 3 * SECOND;
const QUOTA = 5000;

/** Faults that befall all instances at once, for a while. To be called after each step. */
export function beginOutages(world: World): void {
  const { scheduler, weather } = world;
  if (scheduler.random() < weather.locked) holdLock(world);
  if (scheduler.random() < weather.noQuota) takeQuota(world);
}

/** Another process writes, or means to: a command, a backup. */
function holdLock({ scheduler, store, tell }: World): void {
  const release = store.lock?.();
  if (!release) return;
  tell('another process holds the lock of the store');
  scheduler.add({
    owner: scheduler.outside,
    lane: 'another process',
    what: 'the lock of the store is given back',
    at: scheduler.nowMs() + Math.floor(scheduler.random() * LOCKED_MS),
    run: release,
  });
}

/** Somebody else who has the same account has called too often. */
function takeQuota({ scheduler, tracker, model, tell }: World): void {
  const ms = SECOND + Math.floor(scheduler.random() * MINUTE);
  tracker.setQuota({ remaining: 0, resetAt: scheduler.now() + ms });
  model.renewedAtMs = scheduler.nowMs() + ms;
  tell(`nothing is left of the tracker's quota for ${ms} ms`);
  scheduler.add({
    owner: scheduler.outside,
    lane: `quota ${scheduler.steps()}`,
    what: 'the tracker has a quota again',
    at: scheduler.nowMs() + ms,
    run: () => tracker.setQuota({ remaining: QUOTA, resetAt: scheduler.now() + HOUR }),
  });
}
