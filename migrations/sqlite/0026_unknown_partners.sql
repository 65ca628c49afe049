-- compatible
-- Events that wait since the file of the working process lacks their partner; and whether another process,
-- whose file has it, asks for the work.
CREATE INDEX event_without_partner ON event (receipt)
  WHERE outcome = 'PENDING' AND lastError = 'partner-unknown';

ALTER TABLE worker_lease ADD COLUMN isAsked INTEGER NOT NULL DEFAULT 0;
