import { expect, test } from 'vitest';
import { createTraffic, type TrafficCount } from '#partners/traffic.ts';
import { DAY, SECOND } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock } from '../support/clock.ts';

function setUp() {
  const clock = createFakeClock();
  const added: TrafficCount[] = [];
  const store = {
    add: async (counts: readonly TrafficCount[]) => void added.push(...counts),
    readSince: async (day: number) => added.filter((count) => count.day >= day),
  };
  return { clock, added, traffic: createTraffic({ store, clock, log: silentLog }) };
}

test('deliveries that ended alike are one row, written within five seconds', async () => {
  const { clock, added, traffic } = setUp();
  traffic.record('crm-one', 'verified', 'e91c07a4');
  await clock.advance(SECOND);
  traffic.record('crm-one', 'verified', 'e91c07a4');
  traffic.record('crm-one', 'refused', 'signature-wrong');
  const lastAt = clock.now();
  expect(added).toEqual([]);
  await clock.advance(4 * SECOND);
  expect(added).toEqual([
    expect.objectContaining({ kind: 'verified', detail: 'e91c07a4', count: 2, lastAt }),
    expect.objectContaining({ kind: 'refused', detail: 'signature-wrong', count: 1, lastAt }),
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
  const { added, traffic } = setUp();
  traffic.record('crm-one', 'refused', 'limit');
  await traffic.close();
  expect(added).toHaveLength(1);
});
