import { describe, expect, test } from 'vitest';

import { untilAborted } from '#shared/resilience/until-aborted.ts';

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
