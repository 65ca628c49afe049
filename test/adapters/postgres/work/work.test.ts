import { onTestFinished } from 'vitest';
import { receiptsIn, workIn } from '../../../support/partners.ts';
import { createClaims } from '../../../support/claims.ts';
import { describeWork } from '../../../contract/work.ts';
import { leadStoreIn, REPOSITORY } from '../../../support/directory.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { auditOf } from '../../../support/audit.ts';

const REFUSE_PROGRESS = 'ALTER TABLE event ADD CONSTRAINT no CHECK (progress IS NULL) NOT VALID';
const repository = REPOSITORY;

describeWork('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    storeWith: (key) => workIn(database, { key }),
    receiptsWith: (key) => receiptsIn(database, { key }),
    directory: leadStoreIn(database, { repository }),
    auditOf: (subject) => auditOf(database, subject),
    claims: createClaims(database, { repository }),
    workAs: async (instance) => {
      await database.run('UPDATE worker_lease SET holder = @instance', { instance });
    },
    failProgress: async () => {
      await database.exec(REFUSE_PROGRESS);
      onTestFinished(() => database.exec('ALTER TABLE event DROP CONSTRAINT no'));
    },
    countPayloads: async () => {
      const sql = 'SELECT count(payload) AS payloads FROM event';
      return (await database.get<{ payloads: number }>(sql))?.payloads ?? 0;
    },
  };
});
