import { createLeadDirectory } from '#adapters/store/directory/lead-directory.ts';
import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import { claimLeads, findLeads, REPOSITORY } from '../../../support/directory.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeLeadDirectory('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    find: (hash) => findLeads(database, hash),
    claim: (number) => claimLeads(database, { numbers: [number] }),
  };
});
