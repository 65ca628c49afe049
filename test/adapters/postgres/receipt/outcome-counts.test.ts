import { createGroupCommit } from '#adapters/postgres/group-commit.ts';
import { createOutcomeCounts } from '#adapters/postgres/receipt/outcome-counts.ts';
import { createReceiptStore } from '#adapters/postgres/receipt/receipt-store.ts';
import { describeOutcomeCounts } from '../../../contract/outcome-counts.ts';
import { REPOSITORY } from '../../../support/directory.ts';
import { sealer } from '../../../support/partners.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeOutcomeCounts('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    counts: createOutcomeCounts(database),
    store: createReceiptStore({
      database,
      groupCommit: createGroupCommit(database),
      sealer,
      repository: REPOSITORY,
    }),
  };
});
