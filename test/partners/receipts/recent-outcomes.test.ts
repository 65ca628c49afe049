import { createOutcomeReader, type OutcomeCounts } from '#partners/receipts/recent-outcomes.ts';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';

const HOUR = 3_600_000;

function reader(count: OutcomeCounts['count']) {
  const clock = createFakeClock();
  return { clock, read: createOutcomeReader({ store: { count }, clock }) };
}

test('reads the last 24 hours, the one that runs last, and a week', async () => {
  const asked: number[][] = [];
  const { clock, read } = reader(async (starts, _outcomes, which) => {
    asked.push([...starts]);
    return starts.map(() =>
      which === 'acknowledged' ? { REJECTED: 2 } : { FAILED: 1, REJECTED: 5 },
    );
  });
  const { hours, week } = await read();
  const current = Math.floor(clock.now() / HOUR) * HOUR;
  expect(hours).toHaveLength(24);
  expect(hours.map(({ startMs }) => startMs)).toEqual(asked[0]);
  expect([hours[0]?.startMs, hours[23]?.startMs]).toEqual([current - 23 * HOUR, current]);
  expect(asked[1]).toEqual([clock.now() - 7 * 24 * HOUR]);
  expect(week).toEqual({ FAILED: 1, REJECTED: 3 });
});

test('many who look within ten seconds cost one look, those after it another', async () => {
  let looks = 0;
  const { clock, read } = reader(async (starts) => {
    looks += 1;
    return starts.map(() => ({}));
  });
  await Promise.all([read(), read()]);
  await read();
  expect(looks).toBe(3);
  await clock.advance(10_000);
  await read();
  expect(looks).toBe(6);
});

test('a failure is passed on and not remembered', async () => {
  let fails = true;
  const { read } = reader(async (starts) => {
    if (fails) throw new Error('gone');
    return starts.map(() => ({}));
  });
  await expect(read()).rejects.toThrow('gone');
  fails = false;
  expect((await read()).week).toEqual({});
});
