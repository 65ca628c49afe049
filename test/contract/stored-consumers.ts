import { beforeEach, describe, expect, test } from 'vitest';
import { createApiKey } from '#access/keys/key-rules.ts';
import type { Consumer, ConsumerId, Key, KeyId } from '#access/consumers/consumer.ts';
import type { Grant } from '#access/grant.ts';
import type { AuditAction, AuditEntry } from '#shared/audit.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import type { StoredConsumers } from '../support/consumers.ts';
import { eventually } from '../support/eventually.ts';
import {
  type ConsumerChange,
  changeConsumer,
  findConsumer,
  insertConsumer,
  listConsumers,
  lookUpKey,
  recordKeyUses,
} from '#access/consumers/stored-consumers.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type ConsumersFixture = {
  store: StoredConsumers;
  /** Another instance of the service on the same data. */
  other: StoredConsumers;
  auditOf(subject: string): Promise<AuditEntry[]>;
};

type Open = (deps: { clock: FakeClock }) => Promise<ConsumersFixture>;

const KEY_NOT_THERE = 'zzzzzzzzzzzz' as KeyId;
const ID = 'c-1' as ConsumerId;

/** One body for every engine: what stored consumers promise. */
export function describeRegistry(engine: string, open: Open): void {
  describe(`consumers on ${engine}`, () => {
    let clock: FakeClock;
    let fixture: ConsumersFixture;
    let store: StoredConsumers;

    beforeEach(async () => {
      clock = createFakeClock();
      fixture = await open({ clock });
      ({ store } = fixture);
    });

    /** Once it was read. */
    const knownVersion = ({ accessVersion }: StoredConsumers): Promise<number | undefined> =>
      eventually(() => {
        const version = accessVersion.current();
        expect(version).toBeDefined();
        return version;
      });

    test('gives a consumer back as it was put, with and without every optional field', async () => {
      const full = consumer({
        limitPerMinute: 5,
        grants: [{ action: 'leads:read', labels: ['Größe "L"', 'b'] }],
        keys: [key(1, { expiresAt: 20 }), key(2, { revokedAt: 30, lastUsedAt: 25 })],
      });
      const bare = consumer({ id: 'c-2' as ConsumerId, grants: [], keys: [] });
      await insertConsumer(store, change(full));
      await insertConsumer(store, change(bare));
      expect(await findConsumer(store.db, ID)).toEqual(full);
      expect(await findConsumer(store.db, bare.id)).toEqual(bare);
      expect(await findConsumer(store.db, 'c-3')).toBeUndefined();
    });

    test('keeps an unrestricted grant apart from a restricted one', async () => {
      const grants: Grant[] = [
        { action: 'catalog:read', workspace: 'Größe' },
        { action: 'leads:read' },
      ];
      await insertConsumer(store, change(consumer({ grants })));
      expect((await findConsumer(store.db, ID))?.grants).toEqual(grants);
    });

    test('finds a key with what its consumer may do', async () => {
      const put = consumer({ limitPerMinute: 5, keys: [key(1), key(2, { revokedAt: 3 })] });
      await insertConsumer(store, change(put));
      for (const expected of put.keys)
        expect(await lookUpKey(store.db, expected.keyId)).toEqual({
          key: expected,
          consumer: {
            id: ID,
            name: put.name,
            state: 'active',
            limitPerMinute: 5,
            grants: put.grants,
          },
        });
      expect(await lookUpKey(store.db, KEY_NOT_THERE)).toBeUndefined();
    });

    test('lists oldest first, page by page, each consumer once', async () => {
      const ids = ['c-3', 'c-1', 'c-2', 'c-5', 'c-4'] as ConsumerId[];
      for (const [index, id] of ids.entries())
        await insertConsumer(
          store,
          change(consumer({ id, createdAt: Math.floor(index / 2), keys: [] })),
        );
      const first = await listConsumers(store.db, { limit: 2 });
      expect(first.map(({ item }) => item.id)).toEqual(['c-1', 'c-3']);
      const second = await listConsumers(store.db, { limit: 2, after: first[1]?.position });
      expect(second.map(({ item }) => item.id)).toEqual(['c-2', 'c-5']);
      const last = await listConsumers(store.db, { limit: 2, after: second[1]?.position });
      expect(last.map(({ item }) => item.id)).toEqual(['c-4']);
    });

    test('writes what was decided, with its line in the audit log', async () => {
      const put = consumer({ keys: [key(1)] });
      await insertConsumer(store, change(put));
      const next: Consumer = {
        ...put,
        name: 'CRM',
        state: 'disabled',
        limitPerMinute: 7,
        grants: [{ action: 'leads:read', labels: ['emea'] }],
        keys: [{ ...key(1), expiresAt: 50, replacedBy: key(2).keyId }, key(2)],
      };
      const entry: AuditEntry = {
        ...audit('key.rotate'),
        changes: { keyId: key(1).keyId, nested: { list: [1] } },
        requestId: 'r-1',
        actor: { kind: 'token', subject: 'sub', clientId: 'client' },
      };
      const answer = await changeConsumer(store, ID, (before) => {
        expect(before).toEqual(put);
        return { consumer: next, audit: entry };
      });
      expect(answer).toEqual(next);
      expect(await findConsumer(store.db, ID)).toEqual(next);
      expect(await fixture.auditOf('consumer/c-1')).toEqual([audit('consumer.create'), entry]);
    });

    test('writes nothing when nothing was decided, or when deciding failed', async () => {
      const put = consumer();
      await insertConsumer(store, change(put));
      const version = await knownVersion(store);
      expect(await changeConsumer(store, ID, () => undefined)).toEqual(put);
      const refusal = new Error('refused');
      const refused = changeConsumer(store, ID, () => {
        throw refusal;
      });
      await expect(refused).rejects.toBe(refusal);
      expect(await findConsumer(store.db, ID)).toEqual(put);
      expect(store.accessVersion.current()).toBe(version);
      expect(await fixture.auditOf('consumer/c-1')).toHaveLength(1);
    });

    test('writes nothing of a change that cannot be written whole', async () => {
      const put = consumer();
      await insertConsumer(store, change(put));
      const tooFew = { ...key(9), digest: Buffer.alloc(31) };
      const broken = changeConsumer(store, ID, (before) =>
        change({ ...before, name: 'CRM', keys: [...before.keys, tooFew] }),
      );
      await expect(broken).rejects.toBeInstanceOf(Error);
      expect(await findConsumer(store.db, ID)).toEqual(put);
      expect(await fixture.auditOf('consumer/c-1')).toHaveLength(1);
    });

    test('a change of a consumer that does not exist is not found', async () => {
      const missing = changeConsumer(store, ID, () => undefined);
      await expect(missing).rejects.toMatchObject({ code: 'not-found' });
    });

    test('of two instances that change at once, the second decides on what the first wrote', async () => {
      await insertConsumer(store, change(consumer({ keys: [] })));
      const add = (on: StoredConsumers, number: number): Promise<Consumer> =>
        changeConsumer(on, ID, (before) =>
          change({ ...before, keys: [...before.keys, key(number)] }),
        );
      await Promise.all([1, 2, 3, 4].map((n) => add(n % 2 ? store : fixture.other, n)));
      expect((await findConsumer(store.db, ID))?.keys).toHaveLength(4);
    });

    test('of two instances that take one name at once, one gets it', async () => {
      const take = (on: StoredConsumers, number: number): Promise<void> => {
        const id = `c-${number}` as ConsumerId;
        return insertConsumer(on, { ...change(consumer({ id, keys: [] })), hasUniqueName: true });
      };
      const taken = [1, 2, 3, 4].map((n) => take(n % 2 ? store : fixture.other, n));
      const results = await Promise.allSettled(taken);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await listConsumers(store.db, { limit: 10 })).toHaveLength(1);
    });

    test('the version moves on with each change: here at once, elsewhere within a second', async () => {
      const here = await knownVersion(store);
      const elsewhere = await knownVersion(fixture.other);
      await insertConsumer(store, change(consumer()));
      expect(store.accessVersion.current()).not.toBe(here);
      await clock.advance(1000);
      expect(await knownVersion(fixture.other)).not.toBe(elsewhere);
    });

    test('the version stays while nothing but uses are written', async () => {
      await insertConsumer(store, change(consumer()));
      const before = await knownVersion(store);
      await recordKeyUses(store.db, new Map([[key(1).keyId, 10]]));
      await clock.advance(100);
      expect(store.accessVersion.current()).toBe(before);
    });

    test('uses move forward only, and a change does not move them back', async () => {
      await insertConsumer(store, change(consumer({ keys: [key(1), key(2)] })));
      await recordKeyUses(
        store.db,
        new Map([
          [key(1).keyId, 10],
          [KEY_NOT_THERE, 10],
        ]),
      );
      await recordKeyUses(fixture.other.db, new Map([[key(1).keyId, 9]]));
      await changeConsumer(store, ID, (before) => change({ ...before, keys: [key(1), key(2)] }));
      const keys = (await findConsumer(store.db, ID))?.keys;
      expect(keys?.map(({ lastUsedAt }) => lastUsedAt)).toEqual([10, undefined]);
    });
  });
}

function consumer(facts: Partial<Consumer> = {}): Consumer {
  return {
    id: ID,
    name: 'Portal',
    state: 'active',
    grants: [{ action: 'leads:read' }],
    keys: [key(1)],
    createdAt: 1,
    ...facts,
  };
}

/** The same key for the same number. */
function key(number: number, facts: Partial<Key> = {}): Key {
  const { keyId, digest, last4 } = createApiKey((length) => `${number}`.repeat(length));
  return { keyId, digest, last4, createdBy: 'operator', createdAt: number, ...facts };
}

function audit(action: AuditAction): AuditEntry {
  return { at: 1, actor: { kind: 'cli', subject: 'operator' }, action, subject: `consumer/${ID}` };
}

function change(next: Consumer): ConsumerChange {
  return { consumer: next, audit: audit('consumer.create') };
}
