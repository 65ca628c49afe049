import { z } from 'zod';
import { toRfc3339 } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { instantOut } from '#shared/instant-out.ts';
import {
  type CursorSealer,
  type PageRequest,
  paginationOut,
  readPage,
} from '#shared/pagination/page.ts';
import type { LeadStore } from '../lead-store.ts';
import { parseLeadId } from '../model/identity.ts';
import { OF_REPOSITORY } from './claim-view.ts';

/** A claimed lead as the command line and the admin API show it. */
export const claimOut = z
  .object({
    leadId: z.string(),
    claimedAt: instantOut.describe('When the first of its claims took it out of sight.'),
    receiptIds: z
      .array(z.string())
      .readonly()
      .describe('The receipts whose events claim it, the first first.'),
  })
  .meta({ id: 'Claim', description: 'A lead that no reader sees, because of a deletion.' });

/** One page of claimed leads. */
export const claimListOut = z
  .object({ items: z.array(claimOut), pagination: paginationOut })
  .meta({ id: 'ClaimList' });

export type ClaimOut = z.infer<typeof claimOut>;
type ClaimListOut = z.infer<typeof claimListOut>;

/** The claimed leads of a repository, for operators. */
export type ClaimedLeads = Pick<LeadStore, 'db' | 'repository' | 'clock'> & {
  cursors: CursorSealer;
};

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

const LIST = `${CLAIMED_LEADS} AND id < @after ORDER BY id DESC LIMIT @limit`;
const FIND = `${CLAIMED_LEADS} AND number = @number ORDER BY id LIMIT 1`;

type ClaimedRow = { id: number; number: number; claimedAt: number; receiptIds: string };

function toClaimOut({ number, claimedAt, receiptIds }: ClaimedRow): ClaimOut {
  return {
    leadId: String(number),
    claimedAt: toRfc3339(claimedAt),
    receiptIds: JSON.parse(receiptIds) as string[],
  };
}

/** Whoever may see it sees all of it. */
const CLAIMS = { kind: 'claims/1', binding: '', position: z.number() };

/**
 * One page of the leads that are claimed now, the newest claim first.
 * @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listClaims(
  { db, repository, cursors }: Omit<ClaimedLeads, 'clock'>,
  page: PageRequest,
): Promise<ClaimListOut> {
  const request = { ...page, filter: undefined };
  return readPage(cursors, CLAIMS, request, async ({ limit, after = Number.MAX_SAFE_INTEGER }) => {
    const rows = await db.all<ClaimedRow>(LIST, { repository, after, limit });
    return rows.map((row) => ({ item: toClaimOut(row), position: row.id }));
  });
}

/** The claim on one lead. @throws {not-found} @throws {store-unavailable} */
export async function readClaim(
  { db, repository }: Omit<ClaimedLeads, 'clock' | 'cursors'>,
  leadId: string,
): Promise<ClaimOut> {
  const number = parseLeadId(leadId) ?? refuseUnclaimed();
  const row = await db.get<ClaimedRow>(FIND, { repository, number });
  return row ? toClaimOut(row) : refuseUnclaimed(number);
}

/** @throws {not-found} always; what is no number is not repeated */
export function refuseUnclaimed(number?: number): never {
  const lead = number === undefined ? 'This lead' : `Lead ${number}`;
  throw new TrackportError('not-found', { detail: `${lead} is not claimed.` });
}
