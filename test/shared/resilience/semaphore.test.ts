import { describe, expect, test } from 'vitest';

import { createSemaphore } from '#shared/resilience/turns.ts';

const open = new AbortController().signal;

describe('a semaphore', () => {
  test('lets waiting calls in by turns', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    const release = await semaphore.acquire(open);
    const later = ['first', 'second'].map(async (name) => {
      const release = await semaphore.acquire(open);
      order.push(name);
      release();
    });
    release();
    await Promise.all(later);
    expect(order).toEqual(['first', 'second']);
  });

  test('keeps no place for a call that gave up', async () => {
    const semaphore = createSemaphore(1);
    const release = await semaphore.acquire(open);
    const impatient = new AbortController();
    const gaveUp = semaphore.acquire(impatient.signal);
    impatient.abort(new Error('too late'));
    await expect(gaveUp).rejects.toThrow('too late');
    const waiting = semaphore.acquire(open);
    release();
    await expect(waiting).resolves.toBeTypeOf('function');
  });

  test('refuses a call that comes too late, even when there is room', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.acquire(AbortSignal.abort(new Error('too late')))).rejects.toThrow(
      'too late',
    );
    await expect(semaphore.acquire(open)).resolves.toBeTypeOf('function');
  });
});
