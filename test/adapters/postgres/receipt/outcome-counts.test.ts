import { createOutcomeCounts } from '#partners/receipts/read-receipts.ts';
import { createReceiptStore } from '#partners/intake/write-deliveries.ts';
import { describeOutcomeCounts } from '../../../contract/outcome-counts.ts';
import { REPOSITORY } from '../../../support/directory.ts';
import { payloadKey } from '../../../support/partners.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeOutcomeCounts('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    counts: createOutcomeCounts(database),
    store: createReceiptStore(database, { payloadKey, repository: REPOSITORY }),
  };
});
