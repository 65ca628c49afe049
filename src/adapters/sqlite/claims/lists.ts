import type { ClaimedLead, ClaimStore } from '#leads/claims/claim-store.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Connection } from '../connection/connection.ts';

/**
 * Claims of the repository that `repository` names. While the store does not know its number yet,
 * every claim counts, whatever repository it is from: a renamed repository must not show for a
 * moment what was deleted.
 */
export const OF_REPOSITORY = `
  (repositoryId = (SELECT repositoryId FROM tracker_repository WHERE name = @repository)
    OR NOT EXISTS (SELECT 1 FROM tracker_repository WHERE name = @repository))`;

/** A claimed lead stands where the first of its claims in force does. */
const CLAIMED_LEADS = `
  SELECT id, number, claimedAt,
    (SELECT json_group_array(receiptId) FROM (
      SELECT receiptId FROM claim AS other
      WHERE other.repositoryId = claim.repositoryId AND other.number = claim.number
        AND other.releasedAt IS NULL
      GROUP BY receiptId ORDER BY min(id))) AS receiptIds
  FROM claim
  WHERE releasedAt IS NULL AND ${OF_REPOSITORY}
    AND NOT EXISTS (
      SELECT 1 FROM claim AS earlier
      WHERE earlier.repositoryId = claim.repositoryId AND earlier.number = claim.number
        AND earlier.releasedAt IS NULL AND earlier.id < claim.id)`;

type ClaimedRow = { id: number; number: number; claimedAt: number; receiptIds: string };
type ListValues = { repository: string; before: number; limit: number };

/** Claims as operators look at them, synchronous. */
export function createClaimLists({ handle }: Connection, repository: string) {
  const list = handle.prepare<[ListValues], ClaimedRow>(
    `${CLAIMED_LEADS} AND id < @before ORDER BY id DESC LIMIT @limit`,
  );
  const find = handle.prepare<[{ repository: string; number: number }], ClaimedRow>(
    `${CLAIMED_LEADS} AND number = @number ORDER BY id LIMIT 1`,
  );
  return {
    list: ({
      limit,
      after = Number.MAX_SAFE_INTEGER,
    }: Parameters<ClaimStore['list']>[0]): Awaited<ReturnType<ClaimStore['list']>> => {
      const rows = list.all({ repository, before: after, limit: limit + 1 });
      const { items, last } = cutPage(rows, limit);
      return { items: items.map(toClaimedLead), ...(last && { next: last.id }) };
    },
    find: (number: number): ClaimedLead | undefined => {
      const row = find.get({ repository, number });
      return row && toClaimedLead(row);
    },
  };
}

function toClaimedLead({ number, claimedAt, receiptIds }: ClaimedRow): ClaimedLead {
  return { number, claimedAt, receiptIds: JSON.parse(receiptIds) as string[] };
}
