import { createOutcomeCounts } from '#adapters/store/receipt/read-receipts.ts';
import { createReceiptStore } from '#adapters/store/receipt/receipt-store.ts';
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
