-- compatible
-- What happened to an event on its way, by which kinds of name it looks for its lead, when it was asked for
-- last, and whether an operator has seen that it came to nothing.

ALTER TABLE event ADD COLUMN history TEXT NOT NULL DEFAULT '[]'; -- JSON array of steps, oldest first, at most 50
ALTER TABLE event ADD COLUMN names TEXT; -- kinds, never values, with a space between; NULL: none, or not known
ALTER TABLE event ADD COLUMN askedAt INTEGER; -- when it was delivered, or replayed, or sent again after its end
ALTER TABLE event ADD COLUMN acknowledgedAt INTEGER;

UPDATE event SET askedAt = (SELECT receivedAt FROM receipt WHERE number = event.receipt)
WHERE outcome = 'PENDING' OR id IN (SELECT event FROM late_look);

-- It has the age of all that waits.
DROP INDEX event_due;
CREATE INDEX event_due ON event (stage, dueAt, askedAt) WHERE outcome = 'PENDING';

CREATE INDEX event_acknowledged ON event (outcome, receipt) WHERE acknowledgedAt IS NOT NULL;
