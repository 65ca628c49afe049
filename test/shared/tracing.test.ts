import { expect, test } from 'vitest';
import { TrackportError } from '#shared/errors.ts';
import { traced, type Tracing } from '#shared/tracing.ts';

const ended: (string | undefined)[] = [];
const tracing: Tracing = {
  start: () => ({
    run: (work) => work(),
    set: () => undefined,
    end: (errorType) => void ended.push(errorType),
  }),
  current: () => undefined,
};

test.each([
  [new Error('ada@example.org is wrong'), 'Error'],
  [new TrackportError('store-unavailable', { detail: 'for ada@example.org' }), 'store-unavailable'],
  ['ada@example.org', 'string'],
])('a span of work that failed tells a code or a class, never a message', async (error, told) => {
  ended.length = 0;
  const work = traced(tracing, { name: 'work' }, async () => {
    throw error as Error;
  });
  await expect(work).rejects.toBe(error);
  expect(ended).toEqual([told]);
});

test('without tracing the work is done all the same', async () => {
  expect(await traced(undefined, { name: 'work' }, async (span) => span)).toBeUndefined();
});
