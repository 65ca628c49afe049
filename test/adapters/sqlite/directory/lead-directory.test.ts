import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createDirectoryView } from '#adapters/sqlite/directory/view.ts';
import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import { claimLeads, REPOSITORY } from '../../../support/directory.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeLeadDirectory('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    find: async (hash) => createDirectoryView(database, REPOSITORY).find(hash),
    claim: async (number) => claimLeads(database, { numbers: [number] }),
  };
});
