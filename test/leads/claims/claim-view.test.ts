import { withdrawClaims } from '#leads/claims/claim-leads.ts';
import { createClaims } from '../../support/claims.ts';
import { describeClaims } from '../../contract/claims.ts';
import { leadStoreIn, claimLeads } from '../../support/directory.ts';
import { connectTo, temporaryDatabase } from '../../support/stores.ts';
import { auditOf } from '../../support/audit.ts';

describeClaims('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    claimsOf: (repository) => createClaims(database, { repository }),
    directory: leadStoreIn(database),
    claim: async (claim) => database.exclusive((tx) => claimLeads(tx, claim)),
    claimAndFail: async (claim) =>
      database.exclusive(async (tx) => {
        await claimLeads(tx, claim);
        throw new Error('undo');
      }),
    withdraw: (order) =>
      database.exclusive((tx) => withdrawClaims(tx, order, { reason: 'unmatched', now: 0 })),
    auditOf: async (subject) => auditOf(database, subject),
    elsewhere: async () => {
      const other = connectTo(database.handle.name);
      return {
        claim: async (claim) => other.exclusive((tx) => claimLeads(tx, claim)),
        claims: createClaims(other),
      };
    },
    close: async () => database.close(),
  };
});
