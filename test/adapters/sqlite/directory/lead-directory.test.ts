import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import { claimLeads, REPOSITORY } from '../../../support/directory.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeLeadDirectory('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    claim: async (number) => claimLeads(database, { numbers: [number] }),
  };
});
