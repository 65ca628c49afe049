import type { ClaimedLead, ClaimStore, Removal, RemovalQuery } from '#leads/claims/claim-store.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Session } from '../session.ts';

/**
 * Claims of the repository that `repository` names. While the store does not know its number yet,
 * every claim counts, whatever repository it is from: a renamed repository must not show for a
 * moment what was deleted.
 */
export const OF_REPOSITORY = `
  (claim.repository_id = (SELECT repository_id FROM tracker_repository WHERE name = @repository)
    OR NOT EXISTS (SELECT 1 FROM tracker_repository WHERE name = @repository))`;

/** Whether the lead in a row of this table is claimed. Counted, so that no engine takes `claim_removal` for it. */
export const IS_CLAIMED = (table: string): string => `
  (SELECT count(*) > count(released_at) FROM claim
    WHERE claim.repository_id = ${table}.repository_id AND claim.number = ${table}.number)`;

/** A claimed lead stands where the first of its claims in force does. */
const CLAIMED_LEADS = `
  SELECT id, number, claimed_at,
    (SELECT jsonb_agg(receipt_id ORDER BY first) FROM (
      SELECT receipt_id, min(id) AS first FROM claim AS other
      WHERE other.repository_id = claim.repository_id AND other.number = claim.number
        AND other.released_at IS NULL
      GROUP BY receipt_id) AS receipts) AS receipt_ids
  FROM claim
  WHERE released_at IS NULL AND ${OF_REPOSITORY}
    AND NOT EXISTS (
      SELECT 1 FROM claim AS earlier
      WHERE earlier.repository_id = claim.repository_id AND earlier.number = claim.number
        AND earlier.released_at IS NULL AND earlier.id < claim.id)`;

const LIST = `${CLAIMED_LEADS} AND id < @before ORDER BY id DESC LIMIT @limit`;
const FIND = `${CLAIMED_LEADS} AND number = @number ORDER BY id LIMIT 1`;

/** Several claims of one lead share its removed_at, so that DISTINCT leaves one line. */
const REMOVALS = `
  SELECT DISTINCT removed_at, claim.number
  FROM claim JOIN directory_approval AS approval
    ON approval.repository_id = claim.repository_id AND approval.number = claim.number
  WHERE released_at IS NULL AND removed_at >= @since
    AND (removed_at, claim.number) > (@afterRemovedAt, @afterNumber) AND ${OF_REPOSITORY}
    AND approval.labels @> @labels::jsonb
  ORDER BY removed_at, claim.number LIMIT @limit`;

type ClaimedRow = { id: number; number: number; claimedAt: number; receiptIds: string };

/** Claims as operators look at them, and as readers of removals do. */
export function createClaimLists(
  session: Session,
  repository: string,
): Pick<ClaimStore, 'list' | 'find' | 'listRemovals'> {
  return {
    list: async ({ limit, after = Number.MAX_SAFE_INTEGER }) => {
      const values = { repository, before: after, limit: limit + 1 };
      const rows = await session.all<ClaimedRow>(LIST, values);
      const { items, last } = cutPage(rows, limit);
      return { items: items.map(toClaimedLead), ...(last && { next: last.id }) };
    },
    find: async (number) => {
      const row = await session.get<ClaimedRow>(FIND, { repository, number });
      return row && toClaimedLead(row);
    },
    listRemovals: (query) => session.all<Removal>(REMOVALS, toValues(query, repository)),
  };
}

function toClaimedLead({ number, claimedAt, receiptIds }: ClaimedRow): ClaimedLead {
  return { number, claimedAt, receiptIds: JSON.parse(receiptIds) as string[] };
}

function toValues({ since, after, labels, limit }: RemovalQuery, repository: string) {
  return {
    repository,
    since,
    afterRemovedAt: after?.removedAt ?? -1,
    afterNumber: after?.number ?? -1,
    labels: JSON.stringify(labels),
    limit,
  };
}
