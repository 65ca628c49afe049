-- breaking
-- Every delivery looks for its events by their hashes and writes them, at another place of the file each
-- time. One place instead of two: the hash of the event id leads the primary key, and its index goes.

CREATE TABLE same_event_copy (
  idKey BLOB NOT NULL, -- of partner, path, account, type and event id; the event has no id: its key
  personKey BLOB NOT NULL, -- of all that names the person; the event has no id: empty
  key BLOB NOT NULL, -- of all that makes two events the same
  event INTEGER NOT NULL REFERENCES event (id),
  firstSeenAt INTEGER NOT NULL,
  PRIMARY KEY (idKey, personKey, key)
) STRICT, WITHOUT ROWID;

INSERT INTO same_event_copy (idKey, personKey, key, event, firstSeenAt)
SELECT coalesce(idKey, key) AS id, coalesce(personKey, x'') AS person, key, event, firstSeenAt
FROM same_event ORDER BY id, person, key;

DROP TABLE same_event;
ALTER TABLE same_event_copy RENAME TO same_event;

CREATE INDEX same_event_by_time ON same_event (firstSeenAt);
