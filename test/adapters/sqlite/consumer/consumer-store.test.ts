import { expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { createConsumerStore } from '#adapters/sqlite/consumer/consumer-store.ts';
import { anyAudit, consumerWithKey } from '../../../access/support.ts';
import { describeConsumerStore } from '../../../contract/consumer-store.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';
import {
  connectTo,
  temporaryDatabase,
  threadedDatabase,
  withCommits,
} from '../../../support/stores.ts';

function openFixture(database: Database, clock: FakeClock) {
  const log = createAuditLog(database);
  return {
    store: createConsumerStore({ database, clock }),
    other: createConsumerStore({ database: connectTo(database.handle.name), clock }),
    auditOf: async (subject: string) => log.listOf(subject),
  };
}

describeConsumerStore('SQLite', async ({ clock }) => openFixture(temporaryDatabase(), clock));

describeConsumerStore('SQLite, written by a thread', async ({ clock }) =>
  openFixture(await threadedDatabase(), clock),
);

test('a change of another process is noticed after ten milliseconds', async () => {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const store = createConsumerStore({ database, clock });
  const before = store.version();
  connectTo(database.handle.name).handle.exec('UPDATE access_version SET version = version + 1');
  expect(store.version()).toBe(before);
  await clock.advance(10);
  expect(store.version()).not.toBe(before);
});

test('a name that another process takes just before the transaction is refused', async () => {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const elsewhere = connectTo(database.handle.name);
  const takeElsewhere = (): void =>
    void elsewhere.handle.exec(
      "INSERT INTO consumer (id, name, state, createdAt) VALUES ('c-0', 'portal', 'active', 1)",
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
