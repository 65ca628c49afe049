import { beforeEach, describe, expect, test } from 'vitest';
import { toCreatedConsumerOut } from '#access/consumers/consumer-out.ts';
import type { ConsumerFilter } from '#access/consumers/manage-consumers.ts';
import type { Access } from '#access/index.ts';
import { keyIdOf } from '#access/keys/key-rules.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openWorld } from '../../support/world.ts';
import { buildTestAccess, createPortal, keyAt, origin } from '../support.ts';

/** Matches an error with this code. */
function rejectionWith(code: ErrorCode): unknown {
  return expect.objectContaining({ code });
}

let access: Access;
let audit: () => Promise<AuditEntry[]>;
let clock: FakeClock;

beforeEach(() => {
  ({ access, audit, clock } = buildTestAccess());
});

const create = (input?: Parameters<typeof createPortal>[1]) => createPortal(access, input);

describe('creating a consumer', () => {
  test('answers id, name, grants and the key, and nothing else', async () => {
    const grants = [{ action: 'leads:read', labels: ['emea'] }];
    const created = await create({ grants });
    const out = toCreatedConsumerOut(created);
    expect(out).toEqual({ id: 'c-1', name: 'Portal', grants, key: expect.any(String) });
    expect(keyIdOf(out.key)).toBe(keyAt(created.consumer, 0).keyId);
  });

  test.each(['\u200b', '\u3164', '\u202e \u2066', '\u00ad'])(
    'takes no name that nobody can see: %j',
    async (name) => {
      const refused = access.consumers.create({ name }, origin);
      await expect(refused).rejects.toMatchObject({ code: 'validation-failed' });
    },
  );

  test('stores no secret', async () => {
    const { consumer, issued } = await create();
    const secret = issued.key.reveal().slice(17, 49);
    const everything =
      JSON.stringify([consumer, await audit()]) + keyAt(consumer, 0).digest.toString('latin1');
    expect(everything).not.toContain(secret);
  });

  test('is in the audit log with who, when and what', async () => {
    const { consumer } = await create({ grants: [{ action: 'leads:read' }], expiresInMs: DAY });
    expect(await audit()).toEqual([
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
    expect(await audit()).toEqual([]);
  });
});

describe('changing a consumer', () => {
  test('grants replace all that were there', async () => {
    await create({ grants: [{ action: 'leads:read', labels: ['emea'] }] });
    const granted = await access.consumers.replaceGrants(
      { id: 'c-1', grants: [{ action: 'leads:read' }] },
      origin,
    );
    expect(granted.grants).toEqual([{ action: 'leads:read' }]);
    const none = await access.consumers.replaceGrants({ id: 'c-1', grants: [] }, origin);
    expect(none.grants).toEqual([]);
    expect((await audit()).map(({ action }) => action)).toEqual([
      'consumer.create',
      'consumer.grant',
      'consumer.grant',
    ]);
  });

  test('what is not given stays, and null takes the default limit again', async () => {
    await create({ limitPerMinute: 5 });
    const renamed = await access.consumers.update({ id: 'c-1', patch: { name: 'CRM' } }, origin);
    expect(renamed).toMatchObject({ name: 'CRM', limitPerMinute: 5, state: 'active' });
    const unlimited = await access.consumers.update(
      { id: 'c-1', patch: { limitPerMinute: null, state: 'disabled' } },
      origin,
    );
    expect(unlimited).toMatchObject({ name: 'CRM', state: 'disabled' });
    expect(unlimited).not.toHaveProperty('limitPerMinute');
    expect((await audit()).at(-1)?.changes).toEqual({ limitPerMinute: null, state: 'disabled' });
  });

  test('an empty patch is refused', async () => {
    await create();
    await expect(access.consumers.update({ id: 'c-1', patch: {} }, origin)).rejects.toEqual(
      rejectionWith('validation-failed'),
    );
  });

  test('revoking takes all keys with it, is final, and once is enough', async () => {
    await create();
    await access.keys.add({ id: 'c-1' }, origin);
    const revokedAt = clock.now();
    const revoked = await access.consumers.revoke({ id: 'c-1' }, origin);
    expect(revoked.state).toBe('revoked');
    expect(revoked.keys.map((key) => key.revokedAt)).toEqual([revokedAt, revokedAt]);
    await clock.advance(HOUR);
    await access.consumers.revoke({ id: 'c-1' }, origin);
    expect((await audit()).filter(({ action }) => action === 'consumer.revoke')).toHaveLength(1);
    for (const change of [
      access.consumers.replaceGrants({ id: 'c-1', grants: [] }, origin),
      access.consumers.update({ id: 'c-1', patch: { state: 'active' } }, origin),
      access.keys.add({ id: 'c-1' }, origin),
      access.keys.rotate({ id: 'c-1' }, origin),
    ])
      await expect(change).rejects.toEqual(rejectionWith('invalid-lifecycle-transition'));
  });

  test('one that does not exist is not found', async () => {
    for (const call of [
      access.consumers.read('c-2'),
      access.consumers.replaceGrants({ id: 'c-2', grants: [] }, origin),
      access.consumers.update({ id: 'c-2', patch: { name: 'x' } }, origin),
      access.consumers.revoke({ id: 'c-2' }, origin),
      access.keys.add({ id: 'c-2' }, origin),
      access.keys.rotate({ id: 'c-2' }, origin),
    ])
      await expect(call).rejects.toEqual(rejectionWith('not-found'));
  });
});

async function setUp() {
  const clock = createFakeClock();
  const { access } = openWorld({ clock });
  const create = async (name: string, days?: number) => {
    await clock.advance(1);
    const lifetime = days !== undefined && { expiresInMs: days * DAY };
    return (await access.consumers.create({ name, ...lifetime }, origin)).consumer;
  };
  return { clock, access, create };
}

async function namesOf(access: Access, filter: ConsumerFilter, limit = 50): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await access.consumers.find({ filter, limit, ...(cursor && { cursor }) });
    pages.push(page.items.map(({ name }) => name));
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('finding consumers', () => {
  test('goes on right behind the last that fits, and finds each once', async () => {
    const { access, create } = await setUp();
    for (let at = 0; at < 25; at += 1) await create(`${at % 5 === 0 ? 'odd' : 'even'} ${at}`);
    // With a space, which no random id has: one may hold the three letters.
    const pages = await namesOf(access, { text: 'ODD ' }, 2);
    expect(pages.flat()).toEqual(['odd 0', 'odd 5', 'odd 10', 'odd 15', 'odd 20']);
    expect(pages.every((page) => page.length <= 2)).toBe(true);
    expect((await namesOf(access, {})).flat()).toHaveLength(25);
  });

  test('looks at names without regard to case and composition, at ids and key ids', async () => {
    const { access, create } = await setUp();
    const { id, keys } = await create('Caf\u00e9 Ö');
    await create('Other');
    for (const text of ['CAFE\u0301', id.slice(3, 20), keys[0]?.keyId ?? ''])
      expect(await namesOf(access, { text })).toEqual([['Café Ö']]);
    expect(await namesOf(access, { text: 'nobody' })).toEqual([[]]);
  });

  test('tells how a consumer stands', async () => {
    const { access, clock, create } = await setUp();
    const rotated = await create('rotated');
    await create('ending', 3);
    await create('active');
    const disabled = await create('disabled', 1);
    const revoked = await create('revoked');
    await access.keys.rotate({ id: rotated.id, overlapMs: HOUR }, origin);
    await access.consumers.update({ id: disabled.id, patch: { state: 'disabled' } }, origin);
    await access.consumers.revoke({ id: revoked.id }, origin);
    const status = async (filter: ConsumerFilter) => (await namesOf(access, filter)).flat();
    expect(await status({ status: 'in-rotation' })).toEqual(['rotated']);
    expect(await status({ status: 'active' })).toEqual(['ending', 'active']);
    expect(await status({ status: 'disabled' })).toEqual(['disabled']);
    expect(await status({ status: 'revoked' })).toEqual(['revoked']);
    expect(await status({ endsWithinDays: 3 })).toEqual(['rotated', 'ending']);
    expect(await status({ endsWithinDays: 2 })).toEqual(['rotated']);
    await clock.advance(3 * DAY);
    expect(await status({ status: 'no-key' })).toEqual(['ending']);
  });
});

describe('replacing grants that others may have changed', () => {
  test('does nothing when they are not as the caller saw them', async () => {
    const { access, create } = await setUp();
    const { id, grants: expected } = await create('one');
    const grants = [{ action: 'leads:read' }];
    await access.consumers.replaceGrants({ id, grants, expected }, origin);
    await expect(
      access.consumers.replaceGrants({ id, grants: [], expected }, origin),
    ).rejects.toMatchObject({ code: 'precondition-failed' });
    expect((await access.consumers.read(id)).grants).toEqual([{ action: 'leads:read' }]);
  });
});
