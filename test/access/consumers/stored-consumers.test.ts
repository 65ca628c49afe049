import { expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import type { Database } from '#shared/database.ts';
import { anyAudit, consumerWithKey } from '../support.ts';
import { describeRegistry } from '../../contract/stored-consumers.ts';
import { auditOf } from '../../support/audit.ts';
import { consumersIn } from '../../support/consumers.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { connectToPostgres, migratedPostgres } from '../../support/postgres/database.ts';
import {
  connectTo,
  temporaryDatabase,
  threadedDatabase,
  withCommits,
} from '../../support/stores.ts';
import { findConsumer, insertConsumer } from '#access/consumers/stored-consumers.ts';

function openFixture(database: Database, elsewhere: Database, clock: FakeClock) {
  return {
    store: consumersIn(database, clock),
    other: consumersIn(elsewhere, clock),
    auditOf: (subject: string) => auditOf(database, subject),
  };
}

const onFile = (database: SqliteDatabase, clock: FakeClock) =>
  openFixture(database, connectTo(database.handle.name), clock);

describeRegistry('SQLite, written by a thread', async ({ clock }) =>
  onFile(threadedDatabase(), clock),
);

describeRegistry('PostgreSQL', async ({ clock }) => {
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
  const store = consumersIn(
    withCommits(database, (commit) => {
      takeElsewhere();
      return commit();
    }),
    clock,
  );
  const { consumer } = consumerWithKey();
  const refused = insertConsumer(store, { consumer, audit: anyAudit, hasUniqueName: true });
  await expect(refused).rejects.toMatchObject({ code: 'validation-failed' });
  expect(await findConsumer(store.db, consumer.id)).toBeUndefined();
});
