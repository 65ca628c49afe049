import { receiptsIn } from '../../../support/partners.ts';
import { describeOutcomeCounts } from '../../../contract/outcome-counts.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeOutcomeCounts('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  return {
    database,
    store: receiptsIn(database),
  };
});
