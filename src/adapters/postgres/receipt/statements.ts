import { AS_NEW, LASTING_NOTE } from './requeue.ts';

/**
 * Receipts with their events and what makes those known again. Numbers follow the order in which
 * deliveries are accepted; the leads of an event come as a JSON array.
 */
export const INSERT_DELIVERIES = `
  WITH new_receipt AS (
    INSERT INTO receipt
      (id, partner_id, path, event_type, external_id, correlation_id, status, received_at,
        traceparent)
    SELECT id, partner_id, path, event_type, external_id, correlation_id, status, received_at,
      traceparent
    FROM unnest(@ids::text[], @partnerIds::text[], @paths::text[], @receiptEventTypes::text[],
        @receiptExternalIds::text[], @correlationIds::text[], @statuses::text[],
        @receivedAts::bigint[], @traceparents::text[])
        WITH ORDINALITY AS given (id, partner_id, path, event_type, external_id, correlation_id,
          status, received_at, traceparent, place)
    ORDER BY place
    RETURNING number, id
  ), given AS (
    SELECT given.*, new_receipt.number AS receipt
    FROM unnest(@receiptIds::text[], @positions::integer[], @eventTypes::text[],
        @eventIds::text[], @externalIds::text[], @outcomes::text[], @notes::text[],
        @names::text[], @leads::text[], @lastErrors::text[], @completedAts::bigint[], @payloads::bytea[],
        @dueAts::bigint[], @keys::bytea[], @firstSeenAts::bigint[], @idKeys::bytea[],
        @personKeys::bytea[])
        WITH ORDINALITY AS given (receipt_id, position, event_type, event_id, external_id, outcome,
          note, names, leads, last_error, completed_at, payload, due_at, key, first_seen_at, id_key,
          person_key, place)
      JOIN new_receipt ON new_receipt.id = given.receipt_id
  ), new_event AS (
    INSERT INTO event (receipt, position, event_type, event_id, external_id, outcome, note,
      names, lead_ids, last_error, completed_at, payload, due_at, asked_at)
    SELECT receipt, position, event_type, event_id, external_id, outcome, note, names,
      CASE WHEN leads IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(leads::jsonb)) END,
      last_error, completed_at, payload, due_at, due_at
    FROM given
    ORDER BY place
    RETURNING id, receipt, position
  ), new_key AS (
    INSERT INTO same_event (key, event, first_seen_at, id_key, person_key)
    SELECT key, new_event.id, first_seen_at, id_key, person_key
    FROM given JOIN new_event USING (receipt, position)
  )
  SELECT new_event.id
  FROM given JOIN new_event USING (receipt, position)
  ORDER BY place`;

export const FIND_SAME_EVENTS = `
  SELECT same_event.key, event.id AS event, event.receipt, event.position, event.outcome,
    receipt.id AS receipt_id
  FROM unnest(@idKeys::bytea[], @personKeys::bytea[], @keys::bytea[])
      AS given (id_key, person_key, key)
    CROSS JOIN LATERAL (
      SELECT key, event FROM same_event
      WHERE same_event.id_key = given.id_key AND same_event.person_key = given.person_key
        AND same_event.key = given.key
      LIMIT 1) AS same_event
    JOIN event ON event.id = same_event.event
    JOIN receipt ON receipt.number = event.receipt`;

const PERSONS = 'SELECT person_key FROM same_event WHERE same_event.id_key = given.id_key';

/**
 * Of the ids that came before. Both ends are looked at in the index, however often the id came with the
 * same person.
 */
export const PERSONS_OF_IDS = `
  SELECT id_key, lowest, highest
  FROM unnest(@ids::bytea[]) AS given (id_key)
    CROSS JOIN LATERAL (
      SELECT (${PERSONS} ORDER BY person_key LIMIT 1) AS lowest,
        (${PERSONS} ORDER BY person_key DESC LIMIT 1) AS highest) AS persons
  WHERE lowest IS NOT NULL`;

export const READ_ORIGINAL = `
  SELECT id, partner_id, event_type, external_id, correlation_id, received_at
  FROM receipt WHERE number = @receipt`;

/** From here on no worker takes it into its hands. */
export const IS_BEGUN = `
  SELECT lease_token IS NOT NULL OR progress IS NOT NULL AS is_begun
  FROM event WHERE id = @event FOR UPDATE`;

export const REQUEUE_SETTLED = `
  UPDATE event SET ${AS_NEW}, progress = NULL, payload = @payload
  WHERE id = @event`;

/**
 * What an operator gave back is given back for the deliveries before: one that comes now asks anew.
 */
export const FORGET_RELEASES = 'DELETE FROM claim WHERE event = @event AND released_at IS NOT NULL';

export const REFRESH_NOTE = `
  UPDATE event SET note = ${LASTING_NOTE} WHERE id = @event AND note IS NOT NULL`;

export const SET_LEADS = 'UPDATE event SET lead_ids = @leadIds::text[] WHERE id = @event';

/** An event that a late lead has opened again has no payload any more: this one is as good. */
export const MARK_AGAIN = `
  UPDATE event SET again = @now, payload = coalesce(payload, @payload) WHERE id = @event`;
