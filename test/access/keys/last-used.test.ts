import { describe, expect, test } from 'vitest';
import type { KeyId } from '#access/consumers/consumer.ts';
import { createLastUsed, type LastUsed } from '#access/index.ts';
import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createMemoryConsumerStore, type MemoryConsumerStore } from '../support.ts';

const A = 'aaaaaaaaaaaa' as KeyId;
const B = 'bbbbbbbbbbbb' as KeyId;

function setUp(): { clock: FakeClock; store: MemoryConsumerStore; lastUsed: LastUsed } {
  const clock = createFakeClock();
  const store = createMemoryConsumerStore();
  return { clock, store, lastUsed: createLastUsed({ store, clock, log: silentLog }) };
}

describe('lastUsedAt', () => {
  test('is written every five seconds, with the last use of each key', async () => {
    const { clock, store, lastUsed } = setUp();
    lastUsed.record(A, 1);
    lastUsed.record(B, 2);
    lastUsed.record(A, 3);
    expect(store.uses).toEqual([]);
    await clock.advance(5 * SECOND);
    expect(store.uses.map((uses) => [...uses])).toEqual([
      [
        [A, 3],
        [B, 2],
      ],
    ]);
    await lastUsed.close();
  });

  test('has no timer before a key is used, and one from then on', async () => {
    let sleeps = 0;
    const sleep = (): Promise<void> => {
      sleeps += 1;
      return new Promise(() => undefined);
    };
    const store = createMemoryConsumerStore();
    const lastUsed = createLastUsed({ store, clock: { sleep }, log: silentLog });
    expect(sleeps).toBe(0);
    lastUsed.record(A, 1);
    lastUsed.record(B, 1);
    expect(sleeps).toBe(1);
  });

  test('costs no write while no key is used', async () => {
    const { clock, store, lastUsed } = setUp();
    await clock.advance(5 * SECOND);
    await clock.advance(5 * SECOND);
    await lastUsed.close();
    expect(store.uses).toEqual([]);
  });

  test('is written when the service stops', async () => {
    const { store, lastUsed } = setUp();
    lastUsed.record(A, 1);
    await lastUsed.close();
    expect(store.uses.map((uses) => [...uses])).toEqual([[[A, 1]]]);
  });

  test('survives a store that fails for a while', async () => {
    const store = createMemoryConsumerStore();
    let isDown = true;
    const recordUses: typeof store.recordUses = (uses) =>
      isDown ? Promise.reject(new TrackportError('store-unavailable')) : store.recordUses(uses);
    const clock = createFakeClock();
    const lastUsed = createLastUsed({ store: { recordUses }, clock, log: silentLog });
    lastUsed.record(A, 1);
    lastUsed.record(B, 1);
    await lastUsed.flush();
    isDown = false;
    lastUsed.record(A, 5);
    await lastUsed.close();
    expect(store.uses.map((uses) => Object.fromEntries(uses))).toEqual([{ [A]: 5, [B]: 1 }]);
  });
});
