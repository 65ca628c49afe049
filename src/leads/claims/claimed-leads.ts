import type { Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { listRemovals, type RemovalListQuery } from '../reading/list-removals.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import type { ClaimStore } from './claim-store.ts';
import { listClaims, readClaim, releaseClaim } from './manage-claims.ts';

/** What work with claimed leads is made of. */
export type ClaimedLeadsPorts = {
  claims: Pick<ClaimStore, 'list' | 'find' | 'release' | 'listRemovals'>;
  cursors: CursorSealer;
  clock: Pick<Clock, 'now'>;
};

/** The use cases of claimed leads. Each is documented, with the codes that it throws, where it stands. */
export type ClaimedLeads = ReturnType<typeof createClaimedLeads>;

/** The leads that deletions took out of sight, for operators and for readers. No tracker is needed. */
export function createClaimedLeads(ports: ClaimedLeadsPorts) {
  return {
    list: (page: { limit: number; cursor?: string }) => listClaims(ports, page),
    read: (leadId: string) => readClaim(ports, leadId),
    release: (leadId: string, origin: Origin) => releaseClaim(ports, leadId, origin),
    listRemovals: (query: RemovalListQuery, visibility: Visibility) =>
      listRemovals(ports, query, visibility),
  };
}
