import { expect, test, describe } from 'vitest';
import { createTurns, createSemaphore } from '#shared/resilience/turns.ts';
import { turnsDuring } from '../../support/work/turns.ts';

test('who passes comes in the order in which all came, so many in a turn', async () => {
  const turn = createTurns(10);
  const passed: number[] = [];
  const all = Array.from({ length: 100 }, async (_, at) => {
    await turn();
    passed.push(at);
  });
  expect(await turnsDuring(Promise.all(all))).toBeGreaterThanOrEqual(8);
  expect(passed).toEqual(Array.from({ length: 100 }, (_, at) => at));
});

test('what is more than a turn has room for passes alone', async () => {
  const turn = createTurns(10);
  const all = [50, 50, 50, 50].map((size) => turn(size));
  expect(await turnsDuring(Promise.all(all))).toBeGreaterThanOrEqual(2);
});

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
