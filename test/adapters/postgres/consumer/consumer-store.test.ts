import { createAuditLog } from '#adapters/store/audit-log.ts';
import { createConsumerStore } from '#adapters/postgres/consumer/consumer-store.ts';
import { describeConsumerStore } from '../../../contract/consumer-store.ts';
import { connectToPostgres, migratedPostgres } from '../../../support/postgres/database.ts';

describeConsumerStore('PostgreSQL', async ({ clock }) => {
  const own = await migratedPostgres();
  const database = await connectToPostgres(own);
  const log = createAuditLog(database);
  return {
    store: createConsumerStore({ database, clock }),
    other: createConsumerStore({ database: await connectToPostgres(own), clock }),
    auditOf: (subject) => log.listOf(subject),
  };
});
