-- breaking
-- The store says which secretKey it was filled with, so that no process joins it with another one: an older
-- program would. So far the lead directory alone could tell; what the directory says now has been so all along.

CREATE TABLE secret_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  fingerprint BLOB NOT NULL -- of a sub-key: nothing of the key can be told from it
) STRICT;

INSERT INTO secret_key (one, fingerprint)
SELECT 1, keyCheck FROM directory_state JOIN tracker_repository USING (repositoryId)
ORDER BY seenAt DESC LIMIT 1;

ALTER TABLE directory_state DROP COLUMN keyCheck;

-- A row that is written now and then, to find out whether the store takes writes.
DROP TABLE IF EXISTS write_check; -- a process that was killed may have left it
CREATE TABLE write_check (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  filler BLOB NOT NULL
) STRICT;

INSERT INTO write_check (one, filler) VALUES (1, x'');
