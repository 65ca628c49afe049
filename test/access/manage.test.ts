import { beforeEach, describe, expect, test } from 'vitest';
import { keyIdOf } from '#access/keys/api-key.ts';
import { type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import type { ManageDeps } from '#access/consumers/consumer-change.ts';
import { toConsumerOut, toCreatedConsumerOut } from '#access/consumers/consumer-out.ts';
import {
  createConsumer,
  type CreateConsumerInput,
  readConsumer,
  replaceGrants,
  revokeConsumer,
  updateConsumer,
} from '#access/consumers/manage-consumers.ts';
import { addKey, type ConsumerWithKey, revokeKey, rotateKey } from '#access/keys/manage-keys.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { createMemoryConsumerStore, type MemoryConsumerStore, origin } from './support.ts';

let clock: FakeClock;
let store: MemoryConsumerStore;
let deps: ManageDeps;

beforeEach(() => {
  clock = createFakeClock();
  store = createMemoryConsumerStore();
  deps = { store, clock, newId: () => 'c-1' };
});

const create = (input: Partial<CreateConsumerInput> = {}): Promise<ConsumerWithKey> =>
  createConsumer(deps, { name: 'Portal', ...input }, origin);

const rejectionWith = (code: ErrorCode): unknown => expect.objectContaining({ code });

function keyAt(consumer: Consumer, index: number): Key {
  const key = consumer.keys[index];
  if (!key) throw new Error(`no key ${index}`);
  return key;
}

describe('creating a consumer', () => {
  test('answers id, name, grants and the key, and nothing else', async () => {
    const grants = [{ action: 'leads:read', labels: ['emea'] }];
    const created = await create({ grants });
    const out = toCreatedConsumerOut(created);
    expect(out).toEqual({ id: 'c-1', name: 'Portal', grants, key: expect.any(String) });
    expect(keyIdOf(out.key)).toBe(keyAt(created.consumer, 0).keyId);
  });

  test('stores no secret', async () => {
    const { consumer, issued } = await create();
    const secret = issued.key.reveal().slice(17, 49);
    const everything =
      JSON.stringify([consumer, store.audit]) + keyAt(consumer, 0).digest.toString('latin1');
    expect(everything).not.toContain(secret);
  });

  test('is in the audit log with who, when and what', async () => {
    const { consumer } = await create({ grants: [{ action: 'leads:read' }], expiresInMs: DAY });
    expect(store.audit).toEqual([
      {
        at: clock.now(),
        actor: { kind: 'cli', subject: 'operator' },
        requestId: origin.requestId,
        action: 'consumer.create',
        subject: 'consumer/c-1',
        changes: {
          name: 'Portal',
          grants: [{ action: 'leads:read' }],
          keyId: keyAt(consumer, 0).keyId,
          expiresAt: clock.now() + DAY,
        },
      },
    ]);
  });

  test.each([
    ['a blank name', { name: '  ' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['a control character in the name', { name: 'a\u0007b' }],
    ['a limit of 0', { limitPerMinute: 0 }],
    ['a limit with a fraction', { limitPerMinute: 1.5 }],
    ['an expiry now', { expiresInMs: 0 }],
    ['an expiry in 11 years', { expiresInMs: 4015 * DAY }],
    ['an expiry that is no number', { expiresInMs: Number.NaN }],
  ])('%s is refused', async (_, input) => {
    await expect(create(input)).rejects.toEqual(rejectionWith('validation-failed'));
    expect(store.audit).toEqual([]);
  });
});

describe('changing a consumer', () => {
  test('grants replace all that were there', async () => {
    await create({ grants: [{ action: 'leads:read', labels: ['emea'] }] });
    const granted = await replaceGrants(
      deps,
      { id: 'c-1', grants: [{ action: 'leads:read' }] },
      origin,
    );
    expect(granted.grants).toEqual([{ action: 'leads:read' }]);
    const none = await replaceGrants(deps, { id: 'c-1', grants: [] }, origin);
    expect(none.grants).toEqual([]);
    expect(store.audit.map(({ action }) => action)).toEqual([
      'consumer.create',
      'consumer.grant',
      'consumer.grant',
    ]);
  });

  test('what is not given stays, and null takes the default limit again', async () => {
    await create({ limitPerMinute: 5 });
    const renamed = await updateConsumer(deps, { id: 'c-1', patch: { name: 'CRM' } }, origin);
    expect(renamed).toMatchObject({ name: 'CRM', limitPerMinute: 5, state: 'active' });
    const unlimited = await updateConsumer(
      deps,
      { id: 'c-1', patch: { limitPerMinute: null, state: 'disabled' } },
      origin,
    );
    expect(unlimited).toMatchObject({ name: 'CRM', state: 'disabled' });
    expect(unlimited).not.toHaveProperty('limitPerMinute');
    expect(store.audit.at(-1)?.changes).toEqual({ limitPerMinute: null, state: 'disabled' });
  });

  test('an empty patch is refused', async () => {
    await create();
    await expect(updateConsumer(deps, { id: 'c-1', patch: {} }, origin)).rejects.toEqual(
      rejectionWith('validation-failed'),
    );
  });

  test('revoking takes all keys with it, is final, and once is enough', async () => {
    await create();
    await addKey(deps, { id: 'c-1' }, origin);
    const revokedAt = clock.now();
    const revoked = await revokeConsumer(deps, { id: 'c-1' }, origin);
    expect(revoked.state).toBe('revoked');
    expect(revoked.keys.map((key) => key.revokedAt)).toEqual([revokedAt, revokedAt]);
    await clock.advance(HOUR);
    await revokeConsumer(deps, { id: 'c-1' }, origin);
    expect(store.audit.filter(({ action }) => action === 'consumer.revoke')).toHaveLength(1);
    for (const change of [
      replaceGrants(deps, { id: 'c-1', grants: [] }, origin),
      updateConsumer(deps, { id: 'c-1', patch: { state: 'active' } }, origin),
      addKey(deps, { id: 'c-1' }, origin),
      rotateKey(deps, { id: 'c-1' }, origin),
    ])
      await expect(change).rejects.toEqual(rejectionWith('invalid-lifecycle-transition'));
  });

  test('one that does not exist is not found', async () => {
    for (const call of [
      readConsumer(deps, 'c-2'),
      replaceGrants(deps, { id: 'c-2', grants: [] }, origin),
      updateConsumer(deps, { id: 'c-2', patch: { name: 'x' } }, origin),
      revokeConsumer(deps, { id: 'c-2' }, origin),
      addKey(deps, { id: 'c-2' }, origin),
      rotateKey(deps, { id: 'c-2' }, origin),
    ])
      await expect(call).rejects.toEqual(rejectionWith('not-found'));
  });
});

describe('rotating a key', () => {
  test('leaves the old one good for 24 hours, and says so in the audit log', async () => {
    const { issued: first } = await create();
    const { consumer, issued } = await rotateKey(deps, { id: 'c-1' }, origin);
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

  test.each([0, 30 * DAY])('an overlap of %d ms is allowed', async (overlapMs) => {
    await create();
    const { consumer } = await rotateKey(deps, { id: 'c-1', overlapMs }, origin);
    expect(keyAt(consumer, 0).expiresAt).toBe(clock.now() + overlapMs);
  });

  test.each([-1, 30 * DAY + 1, Number.NaN])('an overlap of %d ms is refused', async (overlapMs) => {
    await create();
    await expect(rotateKey(deps, { id: 'c-1', overlapMs }, origin)).rejects.toEqual(
      rejectionWith('validation-failed'),
    );
  });

  test('never makes the old key live longer, and its successor lives as long as it was made to', async () => {
    await create({ expiresInMs: 30 * DAY });
    await clock.advance(29 * DAY + 12 * HOUR);
    const { consumer } = await rotateKey(deps, { id: 'c-1' }, origin);
    expect(keyAt(consumer, 0).expiresAt).toBe(clock.now() + 12 * HOUR);
    expect(keyAt(consumer, 1).expiresAt).toBe(clock.now() + 30 * DAY);
  });

  test('makes one successor at a time', async () => {
    const { issued: first } = await create();
    const { issued: second } = await rotateKey(deps, { id: 'c-1' }, origin);
    const again = { id: 'c-1', keyId: first.stored.keyId };
    await expect(rotateKey(deps, again, origin)).rejects.toEqual(
      rejectionWith('invalid-lifecycle-transition'),
    );
    await revokeKey(deps, { id: 'c-1', keyId: second.stored.keyId }, origin);
    const { consumer, issued: third } = await rotateKey(deps, again, origin);
    expect(keyAt(consumer, 0).replacedBy).toBe(third.stored.keyId);
    expect(third.stored).not.toHaveProperty('expiresAt');
  });

  test('without a key id takes the newest of a chain', async () => {
    await create();
    const { issued: second } = await rotateKey(deps, { id: 'c-1' }, origin);
    const { consumer } = await rotateKey(deps, { id: 'c-1' }, origin);
    expect(keyAt(consumer, 1).keyId).toBe(second.stored.keyId);
    expect(keyAt(consumer, 1)).toHaveProperty('replacedBy');
  });

  test('without a key id is refused when there are several to choose from', async () => {
    const { issued: first } = await create();
    const { issued: second } = await addKey(deps, { id: 'c-1' }, origin);
    await expect(rotateKey(deps, { id: 'c-1' }, origin)).rejects.toMatchObject({
      code: 'validation-failed',
      detail: `Say which key to rotate: ${first.stored.keyId}, ${second.stored.keyId}.`,
    });
  });

  test('of an expired or revoked key is refused', async () => {
    const { issued: expired } = await create({ expiresInMs: DAY });
    const { issued: revoked } = await addKey(deps, { id: 'c-1' }, origin);
    await revokeKey(deps, { id: 'c-1', keyId: revoked.stored.keyId }, origin);
    await clock.advance(DAY);
    for (const { stored } of [expired, revoked])
      await expect(rotateKey(deps, { id: 'c-1', keyId: stored.keyId }, origin)).rejects.toEqual(
        rejectionWith('invalid-lifecycle-transition'),
      );
    await expect(rotateKey(deps, { id: 'c-1' }, origin)).rejects.toEqual(
      rejectionWith('invalid-lifecycle-transition'),
    );
  });
});

describe('keys', () => {
  test('revoking one leaves the others, and once is enough', async () => {
    const { issued: first } = await create();
    await addKey(deps, { id: 'c-1' }, origin);
    const input = { id: 'c-1', keyId: first.stored.keyId };
    const consumer = await revokeKey(deps, input, origin);
    await revokeKey(deps, input, origin);
    const states = consumer.keys.map((key) => keyStateAt(key, clock.now()));
    expect(states).toEqual(['revoked', 'active']);
    expect(store.audit.filter(({ action }) => action === 'key.revoke')).toHaveLength(1);
  });

  test('of another consumer are not found', async () => {
    await create();
    const input = { id: 'c-1', keyId: 'aaaaaaaaaaaa' };
    await expect(revokeKey(deps, input, origin)).rejects.toEqual(rejectionWith('not-found'));
    await expect(rotateKey(deps, input, origin)).rejects.toEqual(rejectionWith('not-found'));
  });

  test('are at most twenty at a time', async () => {
    await create();
    for (let more = 0; more < 19; more += 1) await addKey(deps, { id: 'c-1' }, origin);
    await expect(addKey(deps, { id: 'c-1' }, origin)).rejects.toEqual(
      rejectionWith('invalid-lifecycle-transition'),
    );
  });

  test('are shown with their state and times, never with a digest', async () => {
    const { issued } = await create({ expiresInMs: DAY });
    const consumer = await readConsumer(deps, 'c-1');
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
