import { expect, test } from 'vitest';
import { createLeasing } from '#partners/worker/leasing.ts';
import type { WorkItem } from '#partners/worker/work-store.ts';
import { createFakeClock } from '../../support/clock.ts';

const items = ['a', 'b'].map((receiptId) => ({ receiptId }) as WorkItem);

/** A store that has nothing due but what it is told; it fails while it is `away`. */
function createStore() {
  const store = {
    isAway: false,
    dueAt: undefined as number | undefined,
    givenBack: [] as string[],
    lease: async () => items,
    giveBack: async ({ receiptId }: WorkItem) => {
      if (store.isAway) throw new Error('away');
      store.givenBack.push(receiptId);
    },
    nextDueAt: async () => store.dueAt,
  };
  return store;
}

function createWorld() {
  const store = createStore();
  const clock = createFakeClock(0);
  return { store, clock, leasing: createLeasing({ store, clock, waitMaxMs: () => 1000 }) };
}

const fail = () => Promise.reject(new Error('half-way'));

test('gives back what was left half-way before anything else is leased, once', async () => {
  const { store, leasing } = createWorld();
  await expect(leasing.workOn(items, fail)).rejects.toThrow('half-way');
  await leasing.lease('act', 1);
  await leasing.lease('match', 1);
  expect(store.givenBack).toEqual(['a', 'b']);
});

test('gives back what was left half-way by both loops', async () => {
  const { store, leasing } = createWorld();
  for (const item of items) await expect(leasing.workOn([item], fail)).rejects.toThrow('half-way');
  await leasing.lease('act', 1);
  expect(store.givenBack).toEqual(['a', 'b']);
});

test('leases nothing until what was left half-way could be given back', async () => {
  const { store, leasing } = createWorld();
  await expect(leasing.workOn(items, fail)).rejects.toThrow('half-way');
  store.isAway = true;
  await expect(leasing.lease('act', 1)).rejects.toThrow('away');
  store.isAway = false;
  await leasing.lease('act', 1);
  expect(store.givenBack).toEqual(['a', 'b']);
});

test('gives nothing back of what was worked on to the end', async () => {
  const { store, leasing } = createWorld();
  await leasing.workOn(items, async () => undefined);
  await leasing.lease('act', 1);
  expect(store.givenBack).toEqual([]);
});

test('waits until the next event is due, five seconds at most', async () => {
  const { store, clock, leasing } = createWorld();
  clock.set(1000);
  const waits: number[] = [];
  for (const dueAt of [undefined, 60_000, 3000, 1000, 0]) {
    store.dueAt = dueAt;
    waits.push(await leasing.waitMs('match'));
  }
  expect(waits).toEqual([5000, 5000, 2000, 1, 1]);
});
