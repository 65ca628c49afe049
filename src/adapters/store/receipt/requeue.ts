import { either } from '../session.ts';
import { GIVEN_STEP, WITH_END, withStep } from './history.ts';

/** The note of an event that is looked at anew: what is still true of it, whatever is found. */
export const LASTING_NOTE = `
  CASE note WHEN 'event-id-reused' THEN note
    WHEN 'claim-released' THEN (SELECT event.note FROM claim
      WHERE claim.event = event.id AND released_at IS NOT NULL LIMIT 1) END`;

/**
 * What an event is once it is queued as if it had just come, at `now`; progress is set beside it.
 * Parameters: `now`, and `step`, for its history.
 */
export const AS_NEW = `
  history = ${withStep(GIVEN_STEP, WITH_END)}, asked_at = @now::bigint, due_at = @now::bigint,
  acknowledged_at = NULL,
  outcome = 'PENDING', completed_at = NULL, attempts = 0, erasure = NULL, lead_ids = NULL,
  last_error = NULL, note = ${LASTING_NOTE}, lease_token = NULL, lease_until = NULL, again = 0`;

const LOOKED_AT_ANEW = either(
  `(progress || jsonb_build_object('askedAt', again, 'misses', 0, 'requestedAt', again)) - 'isNoLead'`,
  `json_remove(json_set(progress, '$.askedAt', again, '$.misses', 0, '$.requestedAt', again), '$.isNoLead')`,
);

/**
 * Has an event that came once more looked at anew, for the person may have come back in between.
 * Claims stay, and how far back is looked for a lead that is shown late. Nothing happens while another
 * worker has the event: its own next step starts it again. Parameters: `event`, and `lease`, the
 * caller's own or undefined.
 */
export const REQUEUE_REPEATED = `
  UPDATE event SET due_at = again, attempts = 0, last_error = NULL, note = ${LASTING_NOTE},
    lease_token = NULL, lease_until = NULL, again = 0,
    history = ${withStep(`jsonb_build_object('at', again, 'what', 'repeated')`)},
    progress = CASE WHEN stage = 'match' THEN ${LOOKED_AT_ANEW} END
  WHERE id = @event AND again > 0 AND outcome = 'PENDING'
    AND (lease_token IS NULL OR lease_token = @lease::text)`;
