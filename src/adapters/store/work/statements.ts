import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-store.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import { MERGED_INTO } from '../directory/view.ts';
import { EVENTS_OF_LEAD } from '../receipt/conditions.ts';
import { WITH_END, WITH_GIVEN_STEP, withStep } from '../receipt/requeue.ts';
import { either } from '../session.ts';

/** Every write of an item is fenced: it changes nothing once the lease belongs to another. */
const IS_MINE = `id = @event AND lease_token = @lease AND outcome = 'PENDING'`;

export const DUE_TOO_LATE = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND stage = @stage AND due_at > @latest`;

/** A process that was frozen does not know yet that it was followed. */
export const WORKED_ON_BY_OTHER = 'SELECT 1 FROM worker_lease WHERE holder <> @instance';

/** SQLite sorts what its index has in order already, if it is asked for more of an order. */
export const DUE = `
  SELECT event.id AS event, receipt.id AS receipt_id, receipt.partner_id, receipt.path,
    receipt.received_at, receipt.traceparent, event.position, event.due_at, event.attempts, event.payload, event.progress
  FROM event JOIN receipt ON receipt.number = event.receipt
  WHERE event.stage = @stage AND event.outcome = 'PENDING' AND event.due_at <= @now
    AND (event.lease_until IS NULL OR event.lease_until <= @now)
  ORDER BY event.due_at ${either(', event.id', '')} LIMIT @limit`;

export const LEASE = `
  UPDATE event SET lease_token = @token::text || '/' || id, lease_until = @until
  WHERE id = ANY(@events::bigint[])`;

export const NEXT_DUE_AT = `
  SELECT due_at FROM event WHERE stage = @stage AND outcome = 'PENDING' AND lease_token IS NULL
  ORDER BY due_at LIMIT 1`;

export const FORGET_LEASES = `
  UPDATE event SET lease_token = NULL, lease_until = NULL
  WHERE outcome = 'PENDING' AND lease_token IS NOT NULL`;

export const CAME_AGAIN = "SELECT id AS event FROM event WHERE outcome = 'PENDING' AND again > 0";

export const DUE_NOW = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND due_at > @now AND (progress IS NULL
    OR last_error = 'partner-unknown' OR receipt IN (SELECT number FROM receipt WHERE received_at > @now))`;

/** What is due by now was accepted since, or has waited long enough by any clock. */
export const MOVE_BACK = `
  UPDATE event SET due_at = CASE WHEN due_at > @now THEN due_at - @by ELSE due_at END,
    lease_until = lease_until - @by
  WHERE outcome = 'PENDING'`;

export const GIVE_BACK = `
  UPDATE event SET lease_token = NULL, lease_until = NULL WHERE ${IS_MINE}`;

export const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

export const MATCHED = `
  UPDATE event SET progress = @progress, lead_ids = @leadIds, due_at = @dueAt,
    attempts = @attempts, last_error = NULL, note = coalesce(@note, note), lease_token = NULL,
    lease_until = NULL, history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

export const SAVE_PROGRESS = `
  UPDATE event SET progress = @progress, lease_until = @until WHERE ${IS_MINE}`;

export const RESCHEDULE = `
  UPDATE event SET due_at = @dueAt, attempts = @attempts, last_error = @lastError,
    progress = coalesce(@progress, progress), lease_token = NULL, lease_until = NULL,
    history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

/** What is DONE or IGNORED needs its payload no more; the others can be replayed for 30 days. */
export const SETTLE = `
  UPDATE event SET outcome = @outcome::text, erasure = @erasure, note = coalesce(@note, note),
    attempts = @attempts, last_error = @lastError, completed_at = @now, due_at = NULL,
    lease_token = NULL, lease_until = NULL, progress = NULL,
    payload = CASE WHEN @outcome::text IN ('DONE', 'IGNORED') THEN NULL ELSE payload END
  WHERE ${IS_MINE}
  RETURNING receipt`;

/** How long what has not been matched may hold up others: by then it has, or the tracker fails. */
const UNMATCHED_WAIT_MAX_MS = MINUTE;

/**
 * What goes before the event at this lead, each by one of the three:
 *
 * - an earlier event that has the lead; not one without a partner, which may wait for good;
 * - an earlier event that nobody has matched yet, and so may have it;
 * - a deletion, earlier or later, that has claimed the lead until its match is certain.
 */
export const BLOCKED_UNTIL = `
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

export const CLAIMED = `
  SELECT DISTINCT number FROM claim
  WHERE repository_id = @repositoryId AND number = ANY(@numbers::bigint[]) AND released_at IS NULL`;

export const FOUND_LEADS = 'SELECT lead_ids FROM event WHERE id = @event';

export const LEADS_ELSEWHERE = `
  SELECT 1 FROM claim WHERE event = @event AND released_at IS NULL
    AND repository_id <> ${REPOSITORY_NOT_KNOWN} AND repository_id
    IS DISTINCT FROM (SELECT repository_id FROM tracker_repository WHERE name = @name) LIMIT 1`;

export const COUNTS = `
  SELECT count(*) AS open, min(asked_at) AS oldest_asked_at,
    (SELECT count(*) FROM event WHERE outcome = 'FAILED') AS dead_letters
  FROM event /*sqlite INDEXED BY event_due*/ WHERE outcome = 'PENDING'`;

export const LACKED_PARTNERS = `
  SELECT DISTINCT partner_id FROM receipt WHERE number IN
    (SELECT receipt FROM event WHERE outcome = 'PENDING' AND last_error = 'partner-unknown')`;

/** A clock that was wrong leaves instants behind that are further away than any recheck. */
const AHEAD_MAX_MS = HOUR;

export const NOTE_RECHECK = `
  INSERT INTO recheck
    (event, repository_id, key_hash, actions, matched_at, created_before, due_at)
  VALUES (@event, @repositoryId, @keyHash, @actions, @matchedAt,
    greatest(@createdBefore, coalesce(
      (SELECT caught_up_to FROM directory_state WHERE repository_id = @repositoryId), 0)),
    @dueAt)`;

export const FORGET_RECHECK = 'DELETE FROM recheck WHERE event = @event';

export const PUT_OFF_RECHECK = 'UPDATE recheck SET due_at = @dueAt WHERE event = @event';

export const MOVE_RECHECKS_BACK = `
  UPDATE recheck SET due_at = due_at - @by, matched_at = matched_at - @by`;

export const RECHECKS_NOW = `
  UPDATE recheck SET due_at = @now, matched_at = least(matched_at, @now)
  WHERE matched_at > @now OR due_at > @now::bigint + ${AHEAD_MAX_MS}`;

export const NEXT_RECHECK_AT = 'SELECT due_at FROM recheck ORDER BY due_at LIMIT 1';

export const DUE_RECHECKS = `
  SELECT recheck.event, recheck.matched_at, receipt.id AS receipt_id, receipt.partner_id
  FROM recheck JOIN event ON event.id = recheck.event
    JOIN receipt ON receipt.number = event.receipt
  WHERE recheck.due_at <= @now ORDER BY recheck.due_at LIMIT @limit`;

export const RECHECK = 'SELECT repository_id, actions FROM recheck WHERE event = @event';

/** Whatever the event did with a lead before, also what an operator gave back, is not late. */
export const LATE_LEADS = `
  WITH RECURSIVE ${MERGED_INTO('SELECT key_hash, key_hash FROM recheck WHERE event = @event')}
  SELECT DISTINCT lead.number FROM recheck CROSS JOIN known
    JOIN directory_key AS identity
      ON identity.key_hash = known.hash AND identity.repository_id = recheck.repository_id
    JOIN directory_lead AS lead
      ON lead.repository_id = recheck.repository_id AND lead.number = identity.number
  WHERE recheck.event = @event AND lead.created_at <= recheck.created_before
    AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.event = @event
      AND claim.repository_id = recheck.repository_id AND claim.number = lead.number)
  ORDER BY lead.number`;

export const STATE = `
  SELECT outcome, stage, progress, erasure, coalesce(lead_ids, '[]') AS lead_ids, receipt
  FROM event WHERE id = @event`;

/** Whoever has the event in hand loses it: what it knows of the leads is not all any more. */
export const REOPEN = `
  UPDATE event SET outcome = 'PENDING', completed_at = NULL, due_at = @now, progress = @progress,
    lead_ids = @leadIds, lease_token = NULL, lease_until = NULL,
    history = ${withStep(`jsonb_build_object('at', @now::bigint, 'what', 'late-lead')`, `CASE WHEN outcome = 'PENDING' THEN history ELSE ${WITH_END} END`)},
    attempts = CASE WHEN outcome = 'PENDING' THEN attempts ELSE 0 END,
    last_error = CASE WHEN outcome = 'PENDING' THEN last_error END
  WHERE id = @event`;
