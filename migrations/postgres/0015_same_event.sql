-- breaking
-- Every delivery looks for its events by their hashes and writes them, at another place of the index each
-- time. One index instead of two: the hash of the event id leads the primary key. Where the event has no
-- id, its key stands for it, and the person's is empty.

UPDATE same_event SET id_key = key, person_key = '' WHERE id_key IS NULL;

DROP INDEX same_event_by_id;

ALTER TABLE same_event
  DROP CONSTRAINT same_event_pkey,
  ALTER COLUMN id_key SET NOT NULL,
  ALTER COLUMN person_key SET NOT NULL,
  ADD PRIMARY KEY (id_key, person_key, key);
