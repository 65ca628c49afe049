import { readRepositoryId } from '#leads/lead-store.ts';
import { type ClaimedLeads, refuseUnclaimed } from '#leads/claims/claimed-leads.ts';
import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import { noteLeads } from '#leads/lead-feed/stored-changes.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { type Origin, appendAudit } from '#shared/audit.ts';
import { WITH_GIVEN_STEP } from './event-changes.ts';

const RELEASE = `
  UPDATE claim SET released_at = @at
  WHERE number = @number AND released_at IS NULL AND repository_id = @id
  RETURNING event`;

const NOTE_RELEASE = `
  UPDATE event SET note = 'claim-released', history = ${WITH_GIVEN_STEP}
  WHERE id = ANY(@events::bigint[])`;

/**
 * Gives a lead back to readers; its issue stays as it is. The events that had claimed it do not claim it again unless
 * they are delivered again; a new event can.
 * @throws {not-found} it is not claimed, so that a repeat says so @throws {store-unavailable}
 */
export async function releaseClaim(
  { db, repository, clock }: Omit<ClaimedLeads, 'cursors'>,
  leadId: string,
  origin: Origin,
): Promise<void> {
  const number = parseLeadId(leadId) ?? refuseUnclaimed();
  const at = clock.now();
  const step = { at, what: 'released', by: origin.actor.subject, leadId: String(number) };
  await db.exclusive(async (tx) => {
    const id = (await readRepositoryId(tx, repository)) ?? REPOSITORY_NOT_KNOWN;
    const released = await tx.all<{ event: number }>(RELEASE, { id, number, at });
    if (released.length === 0) refuseUnclaimed(number);
    const events = released.map(({ event }) => event);
    await tx.run(NOTE_RELEASE, { events, step: JSON.stringify(step) });
    await noteLeads(tx, { id, numbers: [number], at });
    appendAudit(tx, { ...origin, at, subject: `claim/${number}`, action: 'claim.release' });
  });
}
