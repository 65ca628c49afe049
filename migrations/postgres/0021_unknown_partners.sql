-- compatible
-- Events that wait since the file of the working instance lacks their partner; and whether another instance,
-- whose file has it, asks for the work.
CREATE INDEX event_without_partner ON event (receipt)
  WHERE outcome = 'PENDING' AND last_error = 'partner-unknown';

ALTER TABLE worker_lease ADD COLUMN is_asked boolean NOT NULL DEFAULT false;
