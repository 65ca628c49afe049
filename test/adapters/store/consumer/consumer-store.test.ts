import { describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import type { Database } from '#shared/database.ts';
import { createConsumerStore } from '#adapters/store/consumer/consumer-store.ts';
import { anyAudit, consumerWithKey } from '../../../access/support.ts';
import { describeConsumerStore } from '../../../contract/consumer-store.ts';
import { auditOf } from '../../../support/audit.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';
import { connectToPostgres, migratedPostgres } from '../../../support/postgres/database.ts';
import {
  connectTo,
  temporaryDatabase,
  threadedDatabase,
  withCommits,
} from '../../../support/stores.ts';

function openFixture(database: Database, elsewhere: Database, clock: FakeClock) {
  return {
    store: createConsumerStore({ database, clock }),
    other: createConsumerStore({ database: elsewhere, clock }),
    auditOf: (subject: string) => auditOf(database, subject),
  };
}

const onFile = (database: SqliteDatabase, clock: FakeClock) =>
  openFixture(database, connectTo(database.handle.name), clock);

describeConsumerStore('SQLite, written by a thread', async ({ clock }) =>
  onFile(await threadedDatabase(), clock),
);

describeConsumerStore('PostgreSQL', async ({ clock }) => {
  const own = await migratedPostgres();
  return openFixture(await connectToPostgres(own), await connectToPostgres(own), clock);
});

test('a name that another process takes just before the transaction is refused', async () => {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const elsewhere = connectTo(database.handle.name);
  const takeElsewhere = (): void =>
    void elsewhere.handle.exec(
      "INSERT INTO consumer (id, name, state, created_at) VALUES ('c-0', 'portal', 'active', 1)",
    );
  const store = createConsumerStore({
    clock,
    database: withCommits(database, (commit) => {
      takeElsewhere();
      return commit();
    }),
  });
  const { consumer } = consumerWithKey();
  const refused = store.insert({ consumer, audit: anyAudit, hasUniqueName: true });
  await expect(refused).rejects.toMatchObject({ code: 'validation-failed' });
  expect(await store.find(consumer.id)).toBeUndefined();
});

describe('a consumer that another process changes while a change is decided', () => {
  async function setUp() {
    const database = temporaryDatabase();
    const clock = createFakeClock();
    const store = createConsumerStore({ database, clock });
    const other = createConsumerStore({ database: connectTo(database.handle.name), clock });
    const { consumer } = consumerWithKey();
    await store.insert({ consumer, audit: anyAudit });
    /** Waits for nobody: what is decided cannot wait either. */
    const renameElsewhere = (name: string): void =>
      void connectTo(database.handle.name)
        .handle.prepare('UPDATE consumer SET name = ? WHERE id = ?')
        .run(name, consumer.id);
    const useElsewhere = (at: number): void =>
      void connectTo(database.handle.name)
        .handle.prepare('UPDATE api_key SET last_used_at = ?')
        .run(at);
    return { store, other, consumer, renameElsewhere, useElsewhere };
  }

  test('has the change decided anew, and both are kept', async () => {
    const { store, other, consumer, renameElsewhere } = await setUp();
    const seen: string[] = [];
    const after = await store.change(consumer.id, (before) => {
      seen.push(before.name);
      if (seen.length === 1) renameElsewhere('renamed');
      return { consumer: { ...before, limitPerMinute: 7 }, audit: anyAudit };
    });
    expect(seen).toEqual([consumer.name, 'renamed']);
    expect(after).toEqual({ ...consumer, name: 'renamed', limitPerMinute: 7 });
    expect(await other.find(consumer.id)).toEqual(after);
  });

  test('again and again is refused in the end, and nothing of the change is kept', async () => {
    const { store, other, consumer, renameElsewhere } = await setUp();
    let decisions = 0;
    const refused = store.change(consumer.id, (before) => {
      decisions += 1;
      renameElsewhere(`name ${decisions}`);
      return { consumer: { ...before, limitPerMinute: 7 }, audit: anyAudit };
    });
    await expect(refused).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await other.find(consumer.id)).toEqual({ ...consumer, name: `name ${decisions}` });
  });

  test('only by using a key does not have it decided anew', async () => {
    const { store, consumer, useElsewhere } = await setUp();
    let decisions = 0;
    const after = await store.change(consumer.id, (before) => {
      decisions += 1;
      useElsewhere(99);
      return { consumer: { ...before, limitPerMinute: 7 }, audit: anyAudit };
    });
    expect(decisions).toBe(1);
    expect(after.keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual([99]);
  });
});
