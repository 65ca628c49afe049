import { insertClaims } from '#adapters/postgres/claims/claim-leads.ts';
import { createLeadDirectory } from '#adapters/postgres/directory/lead-directory.ts';
import { readDirectoryView } from '#adapters/postgres/directory/view.ts';
import { describeLeadDirectory } from '../../../contract/lead-directory.ts';
import { REPOSITORY, REPOSITORY_ID } from '../../../support/directory.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

describeLeadDirectory('PostgreSQL', async () => {
  const database = await temporaryPostgres();
  const claim = { repositoryId: REPOSITORY_ID, receiptId: 'receipt-1', event: 1, at: 0 };
  return {
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    find: async (hash) => {
      const names = [{ kind: 'email' as const, hash }];
      return (await readDirectoryView(database, REPOSITORY, names)).find(hash);
    },
    claim: (number) => insertClaims(database, [{ ...claim, number }]),
  };
});
