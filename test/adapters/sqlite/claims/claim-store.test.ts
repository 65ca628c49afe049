import { createClaimStore } from '#adapters/store/claim/claim-store.ts';
import { withdrawClaims } from '#adapters/store/claim/claim-leads.ts';
import { createLeadDirectory } from '#adapters/store/directory/lead-directory.ts';
import { describeClaimStore } from '../../../contract/claim-store.ts';
import { claimLeads, REPOSITORY } from '../../../support/directory.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';
import { auditOf } from '../../../support/audit.ts';

describeClaimStore('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    claimsOf: (repository) => createClaimStore(database, { repository }),
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    claim: async (claim) => claimLeads(database, claim),
    claimAndFail: async (claim) =>
      database.transaction(async () => {
        await claimLeads(database, claim);
        throw new Error('undo');
      }),
    withdraw: async (order) => void (await withdrawClaims(database, order, 0)),
    auditOf: async (subject) => auditOf(database, subject),
    elsewhere: async () => {
      const other = connectTo(database.handle.name);
      return {
        claim: async (claim) => claimLeads(other, claim),
        claims: createClaimStore(other, { repository: REPOSITORY }),
      };
    },
    close: async () => database.close(),
  };
});
