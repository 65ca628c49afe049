-- compatible
-- What happened to an event on its way, by which kinds of name it looks for its lead, when it was asked for
-- last, and whether an operator has seen that it came to nothing.

ALTER TABLE event
  ADD COLUMN history jsonb NOT NULL DEFAULT '[]', -- steps, oldest first, at most 50
  ADD COLUMN names text, -- kinds, never values, with a space between; NULL: none, or not known
  ADD COLUMN asked_at bigint, -- when it was delivered, or replayed, or sent again after its end
  ADD COLUMN acknowledged_at bigint;

UPDATE event SET asked_at = (SELECT received_at FROM receipt WHERE number = event.receipt)
WHERE outcome = 'PENDING' OR id IN (SELECT event FROM late_look);

-- It has the age of all that waits.
DROP INDEX event_due;
CREATE INDEX event_due ON event (stage, due_at, asked_at) WHERE outcome = 'PENDING';

CREATE INDEX event_acknowledged ON event (outcome, receipt) WHERE acknowledged_at IS NOT NULL;
