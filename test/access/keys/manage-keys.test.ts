import { beforeEach, describe, expect, test } from 'vitest';
import { toConsumerOut } from '#access/consumers/consumer-out.ts';
import { keyStateAt } from '#access/consumers/consumer.ts';
import type { Access } from '#access/index.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import type { FakeClock } from '../../support/clock.ts';
import {
  buildMemoryAccess,
  createPortal,
  keyAt,
  type MemoryConsumerStore,
  origin,
  rejectionWith,
} from '../support.ts';

let access: Access;
let store: MemoryConsumerStore;
let clock: FakeClock;

beforeEach(() => {
  ({ access, store, clock } = buildMemoryAccess());
});

const create = (input?: Parameters<typeof createPortal>[1]) => createPortal(access, input);

describe('rotating a key', () => {
  test('leaves the old one good for 24 hours, and says so in the audit log', async () => {
    const { issued: first } = await create();
    const { consumer, issued } = await access.keys.rotate({ id: 'c-1' }, origin);
    const end = clock.now() + 24 * HOUR;
    expect(keyAt(consumer, 0)).toMatchObject({ expiresAt: end, replacedBy: issued.stored.keyId });
    expect(keyStateAt(keyAt(consumer, 0), end - 1)).toBe('active');
    expect(keyStateAt(keyAt(consumer, 0), end)).toBe('expired');
    expect(keyAt(consumer, 1)).not.toHaveProperty('expiresAt');
    expect(store.audit.at(-1)).toMatchObject({
      action: 'key.rotate',
      changes: { keyId: first.stored.keyId, replacedBy: issued.stored.keyId, expiresAt: end },
    });
  });

  test('never makes the old key live longer, and its successor lives as long as it was made to', async () => {
    await create({ expiresInMs: 30 * DAY });
    await clock.advance(29 * DAY + 12 * HOUR);
    const { consumer } = await access.keys.rotate({ id: 'c-1' }, origin);
    expect(keyAt(consumer, 0).expiresAt).toBe(clock.now() + 12 * HOUR);
    expect(keyAt(consumer, 1).expiresAt).toBe(clock.now() + 30 * DAY);
  });

  test('makes one successor at a time', async () => {
    const { issued: first } = await create();
    const { issued: second } = await access.keys.rotate({ id: 'c-1' }, origin);
    const again = { id: 'c-1', keyId: first.stored.keyId };
    await expect(access.keys.rotate(again, origin)).rejects.toEqual(
      rejectionWith('invalid-lifecycle-transition'),
    );
    await access.keys.revoke({ id: 'c-1', keyId: second.stored.keyId }, origin);
    const { consumer, issued: third } = await access.keys.rotate(again, origin);
    expect(keyAt(consumer, 0).replacedBy).toBe(third.stored.keyId);
    expect(third.stored).not.toHaveProperty('expiresAt');
  });
});

describe('keys', () => {
  test('revoking one leaves the others, and once is enough', async () => {
    const { issued: first } = await create();
    await access.keys.add({ id: 'c-1' }, origin);
    const input = { id: 'c-1', keyId: first.stored.keyId };
    const consumer = await access.keys.revoke(input, origin);
    await access.keys.revoke(input, origin);
    const states = consumer.keys.map((key) => keyStateAt(key, clock.now()));
    expect(states).toEqual(['revoked', 'active']);
    expect(store.audit.filter(({ action }) => action === 'key.revoke')).toHaveLength(1);
  });

  test('of another consumer are not found', async () => {
    await create();
    const input = { id: 'c-1', keyId: 'aaaaaaaaaaaa' };
    await expect(access.keys.revoke(input, origin)).rejects.toEqual(rejectionWith('not-found'));
    await expect(access.keys.rotate(input, origin)).rejects.toEqual(rejectionWith('not-found'));
  });

  test('are at most twenty at a time', async () => {
    await create();
    for (let more = 0; more < 19; more += 1) await access.keys.add({ id: 'c-1' }, origin);
    await expect(access.keys.add({ id: 'c-1' }, origin)).rejects.toEqual(
      rejectionWith('invalid-lifecycle-transition'),
    );
  });

  test('are shown with their state and times, never with a digest', async () => {
    const { issued } = await create({ expiresInMs: DAY });
    const consumer = await access.consumers.read('c-1');
    expect(toConsumerOut(consumer, clock.now())).toEqual({
      id: 'c-1',
      name: 'Portal',
      state: 'active',
      grants: [],
      createdAt: '2026-03-01T12:00:00Z',
      keys: [
        {
          keyId: issued.stored.keyId,
          last4: issued.key.reveal().slice(-4),
          state: 'active',
          createdBy: 'operator',
          createdAt: '2026-03-01T12:00:00Z',
          expiresAt: '2026-03-02T12:00:00Z',
        },
      ],
    });
  });
});
