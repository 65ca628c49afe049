import { expect, test } from 'vitest';
import { createTurns } from '#shared/resilience/turns.ts';
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
