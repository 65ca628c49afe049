import { type Clock, SECOND } from '#shared/clock.ts';
import type { Stage, WorkItem, WorkStore } from './work-store.ts';

/** Should an alarm ever be missed. */
export const LOOK_EVERY_MS = 5 * SECOND;

/** Takes events from the store, and sees to it that none stays taken when the store fails half-way. */
export type Leasing = {
  /** Up to `limit` due events of the stage. @throws {store-unavailable} */
  lease(stage: Stage, limit: number): Promise<readonly WorkItem[]>;
  /** Works on leased items: when that throws, they are given back before the next are leased. */
  workOn<T>(items: readonly WorkItem[], work: () => Promise<T>): Promise<T>;
  /** How long until an event of the stage is due, 5 s at most; in ms. @throws {store-unavailable} */
  waitMs(stage: Stage): Promise<number>;
};

export type LeasingDeps = {
  store: Pick<WorkStore, 'lease' | 'giveBack' | 'nextDueAt'>;
  clock: Pick<Clock, 'now'>;
  /** No event of the stage ever waits longer than this, in ms. */
  waitMaxMs: (stage: Stage) => number;
};

/** @see Leasing */
export function createLeasing({ store, clock, waitMaxMs }: LeasingDeps): Leasing {
  let unreturned: readonly WorkItem[] = [];
  const giveBackUnreturned = async (): Promise<void> => {
    const items = unreturned;
    if (items.length === 0) return;
    await Promise.all(items.map((item) => store.giveBack(item)));
    unreturned = unreturned.filter((item) => !items.includes(item));
  };
  return {
    lease: async (stage, limit) => {
      await giveBackUnreturned();
      return store.lease(stage, clock.now(), limit, waitMaxMs(stage));
    },
    workOn: async (items, work) => {
      try {
        return await work();
      } catch (error) {
        unreturned = [...unreturned, ...items];
        throw error;
      }
    },
    waitMs: async (stage) => {
      const dueAt = await store.nextDueAt(stage);
      if (dueAt === undefined) return LOOK_EVERY_MS;
      return Math.min(LOOK_EVERY_MS, Math.max(1, dueAt - clock.now()));
    },
  };
}
