import { createAuditLog } from '#adapters/postgres/audit-log.ts';
import { createClaimStore } from '#adapters/postgres/claims/claim-store.ts';
import { claimsOf, insertClaims, withdrawClaims } from '#adapters/postgres/claims/claim-leads.ts';
import type { Database, Session } from '#adapters/postgres/connection/database.ts';
import { createLeadDirectory } from '#adapters/postgres/directory/lead-directory.ts';
import { claimTransaction } from '#adapters/postgres/locks.ts';
import { describeClaimStore } from '../../../contract/claim-store.ts';
import type { TestClaim } from '../../../contract/claim-store.ts';
import { REPOSITORY, REPOSITORY_ID } from '../../../support/directory.ts';
import { connectToPostgres, migratedPostgres } from '../../../support/postgres/database.ts';

function insert(session: Session, { numbers, event = 1, at = 0 }: TestClaim): Promise<void> {
  const order = { repositoryId: REPOSITORY_ID, receiptId: `receipt-${event}`, event, numbers };
  return insertClaims(session, claimsOf(order, at));
}

const claimIn = (database: Database, claim: TestClaim): Promise<void> =>
  claimTransaction(database, (session) => insert(session, claim));

describeClaimStore('PostgreSQL', async () => {
  const own = await migratedPostgres();
  const database = await connectToPostgres(own);
  return {
    claimsOf: (repository) => createClaimStore(database, { repository }),
    directory: createLeadDirectory(database, { repository: REPOSITORY }),
    claim: (claim) => claimIn(database, claim),
    claimAndFail: (claim) =>
      claimTransaction(database, async (session) => {
        await insert(session, claim);
        throw new Error('undo');
      }),
    withdraw: async (order) => {
      await claimTransaction(database, (session) => withdrawClaims(session, order));
    },
    auditOf: (subject) => createAuditLog(database).listOf(subject),
    elsewhere: async () => {
      const other = await connectToPostgres(own);
      return {
        claim: (claim) => claimIn(other, claim),
        claims: createClaimStore(other, { repository: REPOSITORY }),
      };
    },
    close: () => database.close(),
  };
});
