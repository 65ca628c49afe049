import { createAuditLog } from '#adapters/store/audit-log.ts';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import { createClaimWriter } from '#adapters/sqlite/claims/claim-leads.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { describeClaimStore } from '../../../contract/claim-store.ts';
import { claimLeads, REPOSITORY } from '../../../support/directory.ts';
import { connectTo, temporaryDatabase } from '../../../support/stores.ts';

describeClaimStore('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    claimsOf: (repository) => createClaimStore(database, { repository }),
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    claim: async (claim) => claimLeads(database, claim),
    claimAndFail: async (claim) =>
      database.transaction(() => {
        claimLeads(database, claim);
        throw new Error('undo');
      }),
    withdraw: async (order) => void createClaimWriter(database).withdraw(order),
    auditOf: async (subject) => createAuditLog(database).listOf(subject),
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
