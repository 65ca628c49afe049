import { expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createConsumerStore } from '#adapters/sqlite/consumer/consumer-store.ts';
import { anyAudit, consumerWithKey } from '../../../access/support.ts';
import { describeConsumerStore } from '../../../contract/consumer-store.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

describeConsumerStore('SQLite', async ({ clock }) => {
  const database = temporaryDatabase();
  const log = createAuditLog(database);
  return {
    store: createConsumerStore({ database, clock }),
    other: createConsumerStore({ database: connectTo(database.handle.name), clock }),
    auditOf: async (subject) => log.listOf(subject),
  };
});

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
    database: {
      ...database,
      transaction: (work) => {
        takeElsewhere();
        return database.transaction(work);
      },
    },
  });
  const { consumer } = consumerWithKey();
  const refused = store.insert({ consumer, audit: anyAudit, hasUniqueName: true });
  await expect(refused).rejects.toMatchObject({ code: 'validation-failed' });
  expect(await store.find(consumer.id)).toBeUndefined();
});
