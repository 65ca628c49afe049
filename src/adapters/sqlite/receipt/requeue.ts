import { WITH_END, withStep } from './history.ts';

/** The note of an event that is looked at anew: what is still true of it, whatever is found. */
export const LASTING_NOTE = `
  CASE note WHEN 'event-id-reused' THEN note
    WHEN 'claim-released' THEN (SELECT note FROM claim
      WHERE claim.event = event.id AND releasedAt IS NOT NULL LIMIT 1) END`;

/**
 * What an event is once it is queued as if it had just come, at `now`; `progress` is to be set beside it.
 * Parameters: `now`, and `step`, for its history.
 */
export const AS_NEW = `
  history = ${withStep('json(@step)', WITH_END)}, askedAt = @now, dueAt = @now, acknowledgedAt = NULL,
  outcome = 'PENDING', completedAt = NULL, attempts = 0, erasure = NULL, leadIds = NULL,
  lastError = NULL, note = ${LASTING_NOTE},
  leaseToken = NULL, leaseUntil = NULL, again = 0`;

/**
 * Has an event that came once more looked at anew, for the person may have come back in between.
 * Claims stay, and how far back is looked for a lead that is shown late. Nothing happens while another
 * worker has the event: its own next step starts it again. Parameters: `event`, and `lease`, the
 * caller's own or null.
 */
export const REQUEUE_REPEATED = `
  UPDATE event SET dueAt = again, attempts = 0, lastError = NULL, note = ${LASTING_NOTE},
    leaseToken = NULL, leaseUntil = NULL, again = 0,
    history = ${withStep(`json_object('at', again, 'what', 'repeated')`)},
    progress = iif(stage = 'match', json_remove(json_set(progress, '$.askedAt', again, '$.misses', 0,
      '$.requestedAt', again), '$.isNoLead'), NULL)
  WHERE id = @event AND again > 0 AND outcome = 'PENDING'
    AND (leaseToken IS NULL OR leaseToken = @lease)`;
