import { readRepositoryId } from '#leads/lead-store.ts';
import { MINUTE } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { isDeletion } from '../../receipts/receipt.ts';
import { EVENTS_OF_LEAD } from '../../receipts/receipt-conditions.ts';
import type { Repository } from '../held-leads.ts';
import { DUE_AND_FREE, RANKS } from '../lease-events.ts';
import type { WorkItem } from '../work-item.ts';

/** Longest time that an unmatched event holds up others: by then it has matched, or the tracker fails. */
const UNMATCHED_WAIT_MAX_MS = MINUTE;

/**
 * Events that go before this one at the lead, by one of three rules:
 *
 * - an earlier event that has the lead; not one without a partner, which may wait for good;
 * - an earlier event that nobody has matched yet, and so may have it;
 * - a deletion, earlier or later, that has claimed the lead until its match is certain.
 */
const BLOCKED_UNTIL = `
  SELECT due_at FROM (
    SELECT event.due_at FROM ${EVENTS_OF_LEAD}
    WHERE event_lead.number = @leadId AND event.outcome = 'PENDING' AND event.id < @event
      AND event.last_error IS DISTINCT FROM 'partner-unknown'
    UNION ALL
    SELECT due_at FROM event
    WHERE stage = 'match' AND outcome = 'PENDING' AND due_at > @now::bigint - ${UNMATCHED_WAIT_MAX_MS}
      AND asked_at > @now::bigint - ${UNMATCHED_WAIT_MAX_MS} AND attempts = 0 AND last_error IS NULL AND id < @event
    UNION ALL
    SELECT event.due_at FROM claim JOIN event ON event.id = claim.event
    WHERE claim.repository_id = @repositoryId AND claim.number = @leadId AND claim.released_at IS NULL
      AND claim.is_provisional AND event.outcome = 'PENDING'
  ) AS earlier ORDER BY due_at LIMIT 1`;

/** Events that would have the turn of the one that is worked on; not one that was refused, and may be again. */
const OVERTAKEN = `
  SELECT 1 FROM event WHERE stage = 'act' AND rank IN (${RANKS.join(', ')}) AND ${DUE_AND_FREE}
    AND last_error IS DISTINCT FROM 'forbidden'
    AND rank < (SELECT rank FROM event WHERE id = @event) LIMIT 1`;

/** True when an event is due for its actions that goes before this one by its rank, not by its age. @throws {store-unavailable} */
export async function isOvertaken(
  db: Database,
  { event }: WorkItem,
  now: number,
): Promise<boolean> {
  return (await db.get(OVERTAKEN, { event, now })) !== undefined;
}

/**
 * Due time (ms since the Unix epoch) of the work on the lead that goes before the event: of an event that came before,
 * or of a deletion that has claimed it until its match is certain. Undefined when there is none, or the item is a
 * deletion, which waits for nobody. @throws {store-unavailable}
 */
export async function blockedUntil(
  { db, repository }: Repository,
  item: WorkItem,
  leadId: number,
  now: number,
): Promise<number | undefined> {
  if (isDeletion(item)) return undefined;
  const repositoryId = await readRepositoryId(db, repository);
  const values = { event: item.event, leadId, repositoryId, now };
  return (await db.get<{ dueAt: number }>(BLOCKED_UNTIL, values))?.dueAt;
}
