import { describe, expect, test } from 'vitest';
import { addTraffic, readTraffic, TRAFFIC_DAYS, type TrafficCount } from '#partners/traffic.ts';
import { engines } from '../support/engines.ts';

const count = (given: Partial<TrafficCount> = {}): TrafficCount => ({
  sender: 'crm-one',
  kind: 'verified',
  detail: 'e91c07a4',
  day: 20_000,
  count: 1,
  lastAt: 1_728_000_000_000,
  ...given,
});

const byName = (left: TrafficCount, right: TrafficCount): number =>
  `${left.sender} ${left.kind} ${left.day}` < `${right.sender} ${right.kind} ${right.day}` ? -1 : 1;

describe.each(engines)('the record of traffic in %s', (_engine, open) => {
  test('what two instances count is added up, and the last time stays the last', async () => {
    const [mine, theirs] = await open();
    await Promise.all([
      addTraffic(mine, [
        count({ count: 2, lastAt: 7 }),
        count({ kind: 'refused', detail: 'limit' }),
      ]),
      addTraffic(theirs, [
        count({ kind: 'refused', detail: 'limit' }),
        count({ count: 3, lastAt: 5 }),
      ]),
    ]);
    expect((await readTraffic(theirs, 0)).sort(byName)).toEqual([
      count({ kind: 'refused', detail: 'limit', count: 2 }),
      count({ count: 5, lastAt: 7 }),
    ]);
  });

  test('days, senders and details are counted apart', async () => {
    const [mine] = await open();
    const counts = [
      count(),
      count({ day: 20_001 }),
      count({ sender: 'crm-two' }),
      count({ sender: 'crm-three', detail: '03fa9c6e' }),
    ];
    await addTraffic(mine, counts);
    expect((await readTraffic(mine, 0)).sort(byName)).toEqual(counts.sort(byName));
    expect(await readTraffic(mine, 20_001)).toEqual([count({ day: 20_001 })]);
  });

  test('days that are too old go when something is added', async () => {
    const [mine] = await open();
    await addTraffic(mine, [count({ day: 1 }), count({ day: 2 })]);
    await addTraffic(mine, [count({ day: TRAFFIC_DAYS + 1 })]);
    const days = (await readTraffic(mine, 0)).map(({ day }) => day);
    expect(days.sort((left, right) => left - right)).toEqual([2, TRAFFIC_DAYS + 1]);
  });

  test('nothing to add is nothing', async () => {
    const [mine] = await open();
    await addTraffic(mine, []);
    expect(await readTraffic(mine, 0)).toEqual([]);
  });
});
