import { describe, expect, test } from 'vitest';

import { createGate, untilAborted } from '#adapters/github/transport/gate.ts';

const open = new AbortController().signal;

describe('a gate', () => {
  test('lets waiting calls in by turns', async () => {
    const gate = createGate(1);
    const order: string[] = [];
    const leave = await gate.enter(open);
    const later = ['first', 'second'].map(async (name) => {
      const leave = await gate.enter(open);
      order.push(name);
      leave();
    });
    leave();
    await Promise.all(later);
    expect(order).toEqual(['first', 'second']);
  });

  test('keeps no place for a call that gave up', async () => {
    const gate = createGate(1);
    const leave = await gate.enter(open);
    const impatient = new AbortController();
    const gaveUp = gate.enter(impatient.signal);
    impatient.abort(new Error('too late'));
    await expect(gaveUp).rejects.toThrow('too late');
    const waiting = gate.enter(open);
    leave();
    await expect(waiting).resolves.toBeTypeOf('function');
  });

  test('refuses a call that comes too late, even when there is room', async () => {
    const gate = createGate(1);
    await expect(gate.enter(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    await expect(gate.enter(open)).resolves.toBeTypeOf('function');
  });
});

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
