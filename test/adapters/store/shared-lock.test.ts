import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSharedLock } from '#adapters/store/shared-lock.ts';

/** Work that says when it begins, and ends when it is told to. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, resolve));
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await nextTurn();
  };
  return { begun, work, end };
}

test('work that shares the lock overlaps, and work that has it alone waits for all of that', async () => {
  const lock = createSharedLock();
  const { begun, work, end } = createWork();
  for (const name of ['a', 'b']) void lock.shared(work(name));
  void lock.exclusive(work('alone'));
  void lock.shared(work('behind'));
  await nextTurn();
  expect(begun).toEqual(['a', 'b']);
  await end('a');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'alone']);
  await end('alone');
  expect(begun).toEqual(['a', 'b', 'alone', 'behind']);
});

test('work that fails gives the lock back', async () => {
  const lock = createSharedLock();
  const fail = () => Promise.reject(new Error('a mistake'));
  for (const kind of ['exclusive', 'shared', 'exclusive'] as const)
    await expect(lock[kind](fail)).rejects.toThrow('a mistake');
  await expect(lock.exclusive(async () => 'done')).resolves.toBe('done');
});
