/** Leads that an operator gave back, and deliveries of the same bytes before and after it. */
import { describe, expect, test } from 'vitest';
import type { WorkItem } from '#partners/worker/work-item.ts';
import type { MatchProgress } from '#partners/receipts/event-progress.ts';
import type { Settlement } from '#partners/worker/settle-event.ts';
import { createClaims } from '../../support/claims.ts';
import { openedDirectory } from '../../support/directory.ts';
import {
  operatorsOf,
  receiptsIn,
  keepMatch,
  settleEvent,
  workIn,
  acceptEvent,
} from '../../support/partners.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { forgetLeases, leaseEvents } from '#partners/worker/lease-events.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';

const idKeys = { id: Buffer.from('id'), person: Buffer.from('person') };
const actor = { kind: 'cli', subject: 'ops' } as const;
const matching: MatchProgress = { stage: 'match', askedAt: 1, misses: 0 };
const match = { leads: [1], conflicts: [] };
const released: Settlement = { outcome: 'UNMATCHED', lastError: 'claim-released', attempts: 1 };

async function setUp() {
  const database = temporaryDatabase();
  await openedDirectory(database, [1, 2]);
  const receipts = receiptsIn(database);
  const store = workIn(database);
  const claims = createClaims(database);
  const lease = async (stage: 'match' | 'act' = 'match'): Promise<WorkItem> => {
    const [item] = await leaseEvents(store, stage, { now: 1e6, limit: 1 });
    if (!item) throw new Error('nothing is due');
    return item;
  };
  return {
    store,
    claims,
    receipts,
    lease,
    deliver: ({ at, hasEventId }: { at: number; hasEventId?: boolean }) =>
      acceptEvent(receipts, {
        at,
        sameEventKey: Buffer.from('the same'),
        ...(hasEventId && { idKeys }),
      }),
    /** Claims lead 1 as a match does, and leaves the event due for its next step. */
    claim: async (item: WorkItem) =>
      keepMatch(store, { item, match, plan: { actions: ['close'], now: 2 } }),
    /** The same for a match that is not certain yet. */
    claimForNow: async (item: WorkItem) =>
      keepMatch(store, {
        item,
        match,
        next: { progress: matching, dueAt: 2, attempts: 0, now: 2 },
      }),
    release: () => claims.release(1, { at: 5, actor }),
    replay: (id: string) => operatorsOf(database, 9).replay(id, { actor }),
    replayAll: () => operatorsOf(database, 9).replayAll({}, { actor }),
    noteOf: async (id: string) => (await readReceipt(receipts.db, id))?.events[0]?.note,
    isClaimed: async () => (await claims.current()).has(1),
  };
}

type World = Awaited<ReturnType<typeof setUp>>;

async function claimedThenReleased(world: World): Promise<string> {
  const id = await world.deliver({ at: 1 });
  await world.claim(await world.lease());
  await world.release();
  expect(await world.isClaimed()).toBe(false);
  return id;
}

test('the event in hand does not claim again what was given back', async () => {
  const world = await setUp();
  await world.deliver({ at: 1 });
  await world.claimForNow(await world.lease());
  const item = await world.lease();
  await world.release();
  expect(await world.claim(item)).toEqual([]);
  await forgetLeases(world.store, 1e9); // nor after a crash
  expect(await world.claim(await world.lease('act'))).toEqual([]);
  expect(await world.isClaimed()).toBe(false);
});

test.each([
  [
    'it ended',
    async ({ store, lease }: World) => settleEvent(store, await lease('act'), released, 6),
  ],
  ['its actions wait', async () => undefined],
  ['its actions are under way', async ({ lease }: World) => lease('act')],
])('a delivery that comes after it claims anew: %s', async (_when, meanwhile) => {
  const world = await setUp();
  await claimedThenReleased(world);
  await meanwhile(world);
  await world.deliver({ at: 7 });
  await forgetLeases(world.store, 1e9); // also when the process died in between
  expect(await world.claim(await world.lease())).toEqual([1]);
  expect(await world.isClaimed()).toBe(true);
});

test('a third delivery claims anew as well, when the second was not begun yet', async () => {
  const world = await setUp();
  await claimedThenReleased(world);
  await world.deliver({ at: 7 });
  await world.claim(await world.lease());
  await settleEvent(world.store, await world.lease('act'), { outcome: 'DONE', attempts: 1 }, 8);
  await world.deliver({ at: 9 });
  await world.release();
  await world.deliver({ at: 10 });
  expect(await world.claim(await world.lease())).toEqual([1]);
});

test('what came again before the release stays released', async () => {
  const world = await setUp();
  await world.deliver({ at: 1 });
  await world.claim(await world.lease());
  const item = await world.lease('act');
  await world.deliver({ at: 4 });
  await world.release();
  await settleEvent(world.store, item, released, 6);
  expect(await world.claim(await world.lease())).toEqual([]);
  expect(await world.isClaimed()).toBe(false);
});

test('what comes again after the release is matched from the start', async () => {
  const world = await setUp();
  await world.deliver({ at: 1 });
  await world.claimForNow(await world.lease());
  await world.release();
  await world.deliver({ at: 7 });
  expect((await world.lease()).progress).toEqual({ ...matching, askedAt: 7 });
});

test('a redelivery of an event with an id leaves the one in hand as it is', async () => {
  const world = await setUp();
  await world.deliver({ at: 1, hasEventId: true });
  await world.claimForNow(await world.lease());
  await world.release();
  await world.deliver({ at: 7, hasEventId: true });
  expect(await world.claim(await world.lease())).toEqual([]);
});

test('a replay of this one receipt takes the release back, a replay of all does not', async () => {
  const world = await setUp();
  const id = await claimedThenReleased(world);
  await settleEvent(world.store, await world.lease('act'), released, 6);
  expect(await world.replayAll()).toMatchObject({ queued: 1 });
  expect(await world.claim(await world.lease())).toEqual([]);
  await settleEvent(world.store, await world.lease('act'), released, 9);
  expect(await world.replay(id)).toMatchObject({ queued: 1 });
  expect(await world.claim(await world.lease())).toEqual([1]);
});

test('a replay of an event that failed for another lead leaves what was given back', async () => {
  const world = await setUp();
  const id = await claimedThenReleased(world);
  const failed: Settlement = { outcome: 'FAILED', lastError: 'refused', attempts: 1 };
  await settleEvent(world.store, await world.lease('act'), failed, 6);
  expect(await world.replay(id)).toMatchObject({ queued: 1 });
  expect(await world.claim(await world.lease())).toEqual([]);
});

describe('the receipt of an event whose lead was given back', () => {
  test.each([
    ['while it is worked on', async () => undefined],
    [
      'after it was done',
      async ({ store, lease }: World) =>
        settleEvent(store, await lease('act'), { outcome: 'DONE', attempts: 1 }, 3),
    ],
  ])('says so: %s', async (_when, meanwhile) => {
    const world = await setUp();
    const id = await world.deliver({ at: 1 });
    await world.claim(await world.lease());
    await meanwhile(world);
    expect(await world.noteOf(id)).toBeUndefined();
    await world.release();
    expect(await world.noteOf(id)).toBe('claim-released');
  });

  test('still says so after a replay of all, which leaves the lead alone', async () => {
    const world = await setUp();
    const id = await claimedThenReleased(world);
    await settleEvent(world.store, await world.lease('act'), released, 6);
    await world.replayAll();
    expect(await world.noteOf(id)).toBe('claim-released');
  });

  test.each([
    ['was replayed by its name', async (world: World, id: string) => world.replay(id)],
    ['came again', async (world: World) => world.deliver({ at: 9 })],
  ])('says so no more once it %s', async (_what, again) => {
    const world = await setUp();
    const id = await claimedThenReleased(world);
    await settleEvent(world.store, await world.lease('act'), released, 6);
    await again(world, id);
    expect(await world.noteOf(id)).toBeUndefined();
  });

  test('says so no more when it came again before it was begun anew', async () => {
    const world = await setUp();
    const id = await claimedThenReleased(world);
    await world.deliver({ at: 7 });
    expect(await world.noteOf(id)).toBeUndefined();
  });
});
