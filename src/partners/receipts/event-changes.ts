/** SQL by which acceptance, the worker and operators change an event alike: its history, its way back into the queue, its receipt's status. */
import { statusesByOutcome, STEPS_MAX } from './receipt.ts';
import { either } from '#shared/sql.ts';

/** `event.history` with one more step; `step` is SQL for an object of JSON. The oldest give way. */
export function withStep(step: string, history = 'history'): string {
  const [open, also, close] = [
    either('((', 'json_remove(json_insert('),
    either('||', ", '$[#]',"),
    either(`) - (-${STEPS_MAX + 1}))`, `), '$[#-${STEPS_MAX + 1}]')`),
  ];
  return `${open}${history} ${also} ${step}${close}`;
}

/** The parameter `step`: a step as JSON. */
const GIVEN_STEP = either('@step::jsonb', 'json(@step)');

/** With the parameter `step`: one as JSON, or null. */
export const WITH_GIVEN_STEP = `
  CASE WHEN @step::jsonb IS NULL THEN history ELSE ${withStep(GIVEN_STEP)} END`;

/** With how it has ended, for one that is to be worked again. */
export const WITH_END = withStep(`jsonb_build_object('at', completed_at, 'what', 'ended',
  'outcome', outcome, 'code', last_error)`);

/** The note of an event that is looked at anew: what is still true of it, whatever is found. */
export const LASTING_NOTE = `
  CASE note WHEN 'event-id-reused' THEN note
    WHEN 'claim-released' THEN (SELECT event.note FROM claim
      WHERE claim.event = event.id AND released_at IS NOT NULL LIMIT 1) END`;

/**
 * Columns of an event that is queued as if it had just come, at `now`; the caller sets its progress.
 * Parameters: `now`, and `step`, for its history.
 */
export const AS_NEW = `
  history = ${withStep(GIVEN_STEP, WITH_END)}, asked_at = @now::bigint, due_at = @now::bigint,
  acknowledged_at = NULL,
  outcome = 'PENDING', completed_at = NULL, attempts = 0, erasure = NULL, remains = NULL, lead_ids = NULL,
  last_error = NULL, note = ${LASTING_NOTE}, lease_token = NULL, lease_until = NULL, again = 0`;

const LOOKED_AT_ANEW = either(
  `(progress || jsonb_build_object('askedAt', again, 'misses', 0)) - 'isNoLead'`,
  `json_remove(json_set(progress, '$.askedAt', again, '$.misses', 0), '$.isNoLead')`,
);

/**
 * Has an event that came once more looked at anew, for the person may have come back in between.
 * Claims stay, and how far back is looked for a lead that is shown late. Nothing happens while another
 * worker has the event: its own next step starts it again. Parameters: `event`, and `leaseToken`, the
 * caller's own or undefined.
 */
export const REQUEUE_REPEATED = `
  UPDATE event SET due_at = again, attempts = 0, last_error = NULL, note = ${LASTING_NOTE},
    lease_token = NULL, lease_until = NULL, again = 0,
    history = ${withStep(`jsonb_build_object('at', again, 'what', 'repeated')`)},
    progress = CASE WHEN stage = 'match' THEN ${LOOKED_AT_ANEW} END
  WHERE id = @event AND again > 0 AND outcome = 'PENDING'
    AND (lease_token IS NULL OR lease_token = @leaseToken::text)`;

const CASES = statusesByOutcome
  .map(
    ([status, deciding]) => `WHEN EXISTS (SELECT 1 FROM event
      WHERE receipt = receipt.number AND outcome IN ('${deciding.join("', '")}')) THEN '${status}'`,
  )
  .join(' ');

/**
 * Brings receipts' statuses in line with their events' outcomes. To be run in the transaction that
 * changed an outcome. Parameter: `receipts`, their numbers.
 */
export const REFRESH_RECEIPT_STATUS = `
  UPDATE receipt SET status = CASE ${CASES} ELSE 'PROCESSED' END
  WHERE number = ANY(@receipts::bigint[])`;

export const SET_LEADS = 'UPDATE event SET lead_ids = @leadIds WHERE id = @event';
