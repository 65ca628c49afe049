import { describe, expect, onTestFinished, test } from 'vitest';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';

/** What every worker lock does; `open` yields a maker of locks of several instances on one store. */
export function describeWorkerLock(
  engine: string,
  open: () => Promise<(instance: string) => WorkerLock>,
): void {
  const openLocks = async (): Promise<(instance: string) => WorkerLock> => {
    const create = await open();
    return (instance) => {
      const lock = create(instance);
      onTestFinished(() => lock.release());
      return lock;
    };
  };

  describe(`the worker lock in ${engine}`, () => {
    test('one of two has it, until it gives it back', async () => {
      const create = await openLocks();
      const [first, second] = [create('a'), create('b')];
      expect(await first.take()).toBe(true);
      expect(await second.take()).toBe(false);
      expect(await first.take()).toBe(true);
      await second.release(); // who has it not gives nothing back
      expect(await second.take()).toBe(false);
      await first.release();
      await first.release();
      expect(await second.take()).toBe(true);
      expect(await first.take()).toBe(false);
    });

    test('of ten that ask at once one has it', async () => {
      const create = await openLocks();
      const takes = Array.from({ length: 10 }, (_, at) => create(String(at)).take());
      expect((await Promise.all(takes)).filter(Boolean)).toHaveLength(1);
    });
  });
}
