import { expect, test } from 'vitest';
import { createTraffic, readTraffic } from '#partners/traffic.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/stores.ts';

function setUp() {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const traffic = createTraffic({ database, clock, log: silentLog });
  return { clock, traffic, written: () => readTraffic(database, 0) };
}

test('deliveries that ended alike are one row, written within five seconds', async () => {
  const { clock, written, traffic } = setUp();
  traffic.record('crm-one', 'verified', 'e91c07a4');
  await clock.advance(SECOND);
  traffic.record('crm-one', 'verified', 'e91c07a4');
  traffic.record('crm-one', 'refused', 'signature-wrong');
  const lastAt = clock.now();
  expect(await written()).toEqual([]);
  await clock.advance(4 * SECOND);
  await expect
    .poll(written)
    .toEqual([
      expect.objectContaining({ kind: 'refused', detail: 'signature-wrong', count: 1, lastAt }),
      expect.objectContaining({ kind: 'verified', detail: 'e91c07a4', count: 2, lastAt }),
    ]);
  await traffic.close();
});

test('sums go over the days that were asked for, the latest first', async () => {
  const { clock, traffic } = setUp();
  const record = async (sender: string): Promise<void> => {
    traffic.record(sender, 'verified', 'e91c07a4');
    await traffic.flush();
    await clock.advance(DAY);
  };
  for (const sender of ['crm-one', 'crm-two', 'crm-one']) await record(sender);
  const senders = async (days: number): Promise<string[]> =>
    (await traffic.read(days)).map(({ sender, count }) => `${sender} ${count}`);
  expect(await senders(2)).toEqual(['crm-one 1']);
  expect(await senders(3)).toEqual(['crm-one 1', 'crm-two 1']);
  expect(await senders(4)).toEqual(['crm-one 2', 'crm-two 1']);
  await traffic.close();
});

test('what is collected is written when the service stops', async () => {
  const { written, traffic } = setUp();
  traffic.record('crm-one', 'refused', 'limit');
  await traffic.close();
  expect(await written()).toHaveLength(1);
});
