import { createOutcomeReader } from '#partners/receipts/recent-outcomes.ts';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { acceptEvent, operatorsOf, receiptsIn } from '../../support/partners.ts';
import { temporaryDatabase } from '../../support/stores.ts';

const HOUR = 3_600_000;

function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const receipts = receiptsIn(database);
  const store = { looks: 0, isGone: false };
  const read = createOutcomeReader({
    db: {
      ...database,
      all: (...statement) => {
        store.looks += 1;
        return store.isGone ? Promise.reject(new Error('gone')) : database.all(...statement);
      },
    },
    clock,
  });
  let keys = 0;
  const accept = (at: number, outcome: 'IGNORED' | 'REJECTED') =>
    acceptEvent(receipts, { at, outcome, sameEventKey: Buffer.from(`${(keys += 1)}`) });
  return { clock, store, read, accept, receipts };
}

test('reads the last 24 hours, the one that runs last, and of a week what nobody has acknowledged', async () => {
  const { clock, read, accept, receipts } = setUp();
  const current = Math.floor(clock.now() / HOUR) * HOUR;
  await accept(clock.now() - 7 * 24 * HOUR - 1, 'REJECTED');
  await accept(clock.now() - 7 * 24 * HOUR, 'REJECTED');
  await accept(current - 23 * HOUR - 1, 'IGNORED');
  await accept(current - 23 * HOUR, 'IGNORED');
  await accept(current, 'REJECTED');
  const seen = await accept(clock.now(), 'REJECTED');
  const actor = { kind: 'cli', subject: 'ada' } as const;
  await operatorsOf(receipts.db, clock.now()).acknowledge(seen, { actor });
  const { hours, week } = await read();
  expect(hours).toHaveLength(24);
  expect(hours.map(({ startMs }) => startMs)).toEqual(
    Array.from({ length: 24 }, (_, hour) => current - (23 - hour) * HOUR),
  );
  expect(hours[0]?.counts).toEqual({ IGNORED: 1 });
  expect(hours[23]?.counts).toEqual({ REJECTED: 2 });
  expect(week).toEqual({ REJECTED: 2 });
});

test('many who look within ten seconds cost one look, those after it another', async () => {
  const { clock, read, store } = setUp();
  await Promise.all([read(), read()]);
  const once = store.looks;
  await read();
  expect(store.looks).toBe(once);
  await clock.advance(10_000);
  await read();
  expect(store.looks).toBe(2 * once);
});

test('a failure is passed on and not remembered', async () => {
  const { read, store } = setUp();
  store.isGone = true;
  await expect(read()).rejects.toThrow('gone');
  store.isGone = false;
  expect((await read()).week).toEqual({});
});
