import { createClaimView, type ClaimView } from '#leads/claims/claim-view.ts';
import { type ClaimedLeads, listClaims } from '#leads/claims/claimed-leads.ts';
import { releaseClaim } from '#partners/receipts/release-claim.ts';
import type { AuditEntry } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { REPOSITORY } from './directory.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { keyOf } from './keys.ts';

/** Claimed leads, as operators' calls work on them. */
function claimedLeadsIn(
  db: Database,
  { repository, clock }: { repository: string; clock: Pick<Clock, 'now'> },
): ClaimedLeads {
  return { db, repository, clock, cursors: createCursorSealer(keyOf(1)) };
}

/** The claims in a store, and what operators do with them. */
export type TestClaims = ClaimView & {
  list(page: { limit: number }): ReturnType<typeof listClaims>;
  /** At the instant of the entry, by its actor. */
  release(number: number, entry: Pick<AuditEntry, 'at' | 'actor'>): Promise<void>;
};

export function createClaims(
  database: Database,
  { repository = REPOSITORY }: { repository?: string } = {},
): TestClaims {
  const own = (now = 0) =>
    claimedLeadsIn(database, { repository: repository.toLowerCase(), clock: { now: () => now } });
  return {
    ...createClaimView(own()),
    list: (page) => listClaims(own(), page),
    release: (number, { at, actor }) => releaseClaim(own(at), String(number), { actor }),
  };
}
