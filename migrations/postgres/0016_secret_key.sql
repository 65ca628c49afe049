-- breaking
-- The store says which secretKey it was filled with, so that no instance joins it with another one: an older
-- program would. So far the lead directory alone could tell; what the directory says now has been so all along.

CREATE TABLE secret_key (
  one integer PRIMARY KEY CHECK (one = 1),
  fingerprint bytea NOT NULL -- of a sub-key: nothing of the key can be told from it
);

INSERT INTO secret_key (one, fingerprint)
SELECT 1, key_check FROM directory_state JOIN tracker_repository USING (repository_id)
ORDER BY seen_at DESC LIMIT 1;

ALTER TABLE directory_state DROP COLUMN key_check;
