import type { Origin } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type CursorSealer, paginationOf, refuseCursor } from '#shared/pagination/page.ts';
import { type ClaimListOut, type ClaimOut, toClaimOut } from './claim-out.ts';
import type { ClaimStore } from './claim-store.ts';
import { parseLeadId } from '../model/identity.ts';

const CURSOR_KIND = 'claims/1';
const BINDING = ''; // the list has no filters, and everybody who may see it sees all of it

/**
 * One page of the leads that are claimed now, the newest claim first. `limit` may change from page
 * to page. @throws {invalid-cursor} @throws {store-unavailable}
 */
export async function listClaims(
  { claims, cursors }: { claims: Pick<ClaimStore, 'list'>; cursors: CursorSealer },
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<ClaimListOut> {
  const after = cursor === undefined ? undefined : openCursor(cursors, cursor);
  const { items, next } = await claims.list({ limit, after });
  const nextCursor = next === undefined ? undefined : cursors.seal(CURSOR_KIND, BINDING, next);
  return { items: items.map(toClaimOut), pagination: paginationOf(nextCursor) };
}

/** The claim on one lead. @throws {not-found} @throws {store-unavailable} */
export async function readClaim(
  { claims }: { claims: Pick<ClaimStore, 'find'> },
  leadId: string,
): Promise<ClaimOut> {
  const number = parseLeadId(leadId);
  const claimed = number === undefined ? undefined : await claims.find(number);
  return claimed ? toClaimOut(claimed) : refuseUnclaimed(number);
}

/**
 * Gives a lead back to readers; its issue stays as it is.
 * @throws {not-found} it is not claimed, so that a repeat says so @throws {store-unavailable}
 */
export async function releaseClaim(
  { claims, clock }: { claims: Pick<ClaimStore, 'release'>; clock: Pick<Clock, 'now'> },
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
