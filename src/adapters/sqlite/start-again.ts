/**
 * Has an event that came once more looked at anew, for the person may have come back in between.
 * Claims stay, and so does what a later match has to take back. Nothing happens while another
 * worker has the event: its own next step starts it again. Parameters: `event`, and `lease`, the
 * caller's own or null.
 */
export const START_AGAIN = `
  UPDATE event SET dueAt = again, attempts = 0, lastError = NULL, leaseToken = NULL,
    leaseUntil = NULL, again = 0,
    progress = iif(stage = 'match', json_set(progress, '$.askedAt', again, '$.misses', 0), NULL)
  WHERE id = @event AND again > 0 AND outcome = 'PENDING'
    AND (leaseToken IS NULL OR leaseToken = @lease)`;
