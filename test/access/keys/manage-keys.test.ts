import { beforeEach, describe, expect, test } from 'vitest';
import { toConsumerOut } from '#access/consumers/consumer-out.ts';
import { keyStateAt } from '#access/consumers/consumer.ts';
import type { Access } from '#access/index.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import type { FakeClock } from '../../support/clock.ts';
import { buildTestAccess, createPortal, keyAt, origin } from '../support.ts';

let access: Access;
let audit: () => Promise<AuditEntry[]>;
let clock: FakeClock;

beforeEach(() => {
  ({ access, audit, clock } = buildTestAccess());
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
    expect((await audit()).at(-1)).toMatchObject({
      action: 'key.rotate',
      changes: { keyId: first.stored.keyId, replacedBy: issued.stored.keyId, expiresAt: end },
    });
  });

  test.each([
    ['for ever', undefined, 0],
    ['for 90 days', 90 * DAY, HOUR],
  ])(
    'again, behind a successor that was rotated itself, is %s',
    async (_, expiresInMs, afterMs) => {
      const { issued: first } = await create({ expiresInMs });
      const { keyId } = first.stored;
      const { issued } = await access.keys.rotate(
        { id: 'c-1', keyId, overlapMs: 30 * DAY },
        origin,
      );
      await clock.advance(afterMs);
      const second = { id: 'c-1', keyId: issued.stored.keyId, overlapMs: 0 };
      await access.keys.rotate(second, origin);
      await clock.advance(HOUR);
      const again = await access.keys.rotate({ id: 'c-1', keyId }, origin);
      const { createdAt, expiresAt } = again.issued.stored;
      expect(expiresAt).toBe(expiresInMs && createdAt + expiresInMs);
    },
  );
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
    expect((await audit()).filter(({ action }) => action === 'key.revoke')).toHaveLength(1);
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
