import { z } from 'zod';
import type { Origin } from '#shared/audit.ts';
import { bindTo } from '#shared/bind.ts';
import { type Clock, toRfc3339 } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { instantOut } from '#shared/instant-out.ts';
import {
  type CursorSealer,
  paginationOf,
  paginationOut,
  refuseCursor,
} from '#shared/pagination/page.ts';
import { parseLeadId } from '../model/identity.ts';
import type { ClaimedLead, ClaimStore } from './claim-store.ts';

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

function toClaimOut({ number, claimedAt, receiptIds }: ClaimedLead): ClaimOut {
  return { leadId: String(number), claimedAt: toRfc3339(claimedAt), receiptIds };
}

/** What work with claimed leads is made of. */
type ClaimedLeadsPorts = {
  claims: Pick<ClaimStore, 'list' | 'find' | 'release'>;
  cursors: CursorSealer;
  clock: Pick<Clock, 'now'>;
};

/** The use cases of claimed leads. Each is documented, with the codes that it throws, where it stands. */
export type ClaimedLeads = ReturnType<typeof createClaimedLeads>;

/** The leads that deletions took out of sight, for operators. No tracker is needed. */
export function createClaimedLeads(ports: ClaimedLeadsPorts) {
  const bound = bindTo(() => ports);
  return {
    list: bound(listClaims),
    read: bound(readClaim),
    release: bound(releaseClaim),
  };
}

const CURSOR_KIND = 'claims/1';
const BINDING = ''; // the list has no filters, and everybody who may see it sees all of it

/**
 * One page of the leads that are claimed now, the newest claim first. `limit` may change from page
 * to page. @throws {invalid-cursor} @throws {store-unavailable}
 */
async function listClaims(
  { claims, cursors }: ClaimedLeadsPorts,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<ClaimListOut> {
  const after = cursor === undefined ? undefined : openCursor(cursors, cursor);
  const { items, next } = await claims.list({ limit, after });
  const nextCursor = next === undefined ? undefined : cursors.seal(CURSOR_KIND, BINDING, next);
  return { items: items.map(toClaimOut), pagination: paginationOf(nextCursor) };
}

/** The claim on one lead. @throws {not-found} @throws {store-unavailable} */
async function readClaim({ claims }: ClaimedLeadsPorts, leadId: string): Promise<ClaimOut> {
  const number = parseLeadId(leadId);
  const claimed = number === undefined ? undefined : await claims.find(number);
  return claimed ? toClaimOut(claimed) : refuseUnclaimed(number);
}

/**
 * Gives a lead back to readers; its issue stays as it is.
 * @throws {not-found} it is not claimed, so that a repeat says so @throws {store-unavailable}
 */
async function releaseClaim(
  { claims, clock }: ClaimedLeadsPorts,
  leadId: string,
  origin: Origin,
): Promise<void> {
  const number = parseLeadId(leadId) ?? refuseUnclaimed();
  const entry = { ...origin, at: clock.now(), subject: `claim/${number}` };
  const released = await claims.release(number, { ...entry, action: 'claim.release' });
  if (released === 0) refuseUnclaimed(number);
}

function openCursor(cursors: CursorSealer, cursor: string): number {
  const position = cursors.open(CURSOR_KIND, BINDING, cursor);
  return typeof position === 'number' ? position : refuseCursor();
}

/** @throws {not-found} always; what is no number is not repeated */
function refuseUnclaimed(number?: number): never {
  const lead = number === undefined ? 'This lead' : `Lead ${number}`;
  throw new TrackportError('not-found', { detail: `${lead} is not claimed.` });
}
