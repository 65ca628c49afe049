import { expect, test } from 'vitest';
import { createMeasuring } from '../../bench/progress.ts';
import { createFakeClock } from '../support/clock.ts';

test('a bench tells every second what it measures, for how long, and when all is done', async () => {
  const clock = createFakeClock();
  const lines: string[] = [];
  const inTurn = createMeasuring({
    total: 2,
    clock,
    onProgress: (done, total, unit, atHand = '') =>
      void lines.push(`${done}/${total} ${unit} ${atHand}`.trim()),
  });
  const measured = await inTurn('leads', async () => {
    await clock.advance(1000);
    await clock.advance(1000);
    return 17;
  });
  await expect(inTurn('intake', () => Promise.reject(new Error('no store')))).rejects.toThrow(
    'no store',
  );
  expect(measured).toBe(17);
  expect(lines).toEqual([
    '0/2 groups leads, 0 s',
    '0/2 groups leads, 1 s',
    '0/2 groups leads, 2 s',
    '1/2 groups intake, 0 s',
    '2/2 groups',
  ]);
});
