-- breaking
-- Columns are called as in the other engine. The order in which keys were made has a column, as there: a table
-- cannot get a primary key, so that the keys are copied.

ALTER TABLE consumer RENAME COLUMN limitPerMinute TO limit_per_minute;
ALTER TABLE consumer RENAME COLUMN createdAt TO created_at;
ALTER TABLE consumer_grant RENAME COLUMN consumerId TO consumer_id;

CREATE TABLE api_key_copy (
  serial INTEGER PRIMARY KEY, -- ascending with creation
  key_id TEXT NOT NULL UNIQUE,
  consumer_id TEXT NOT NULL REFERENCES consumer (id),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32), -- of the whole key, which is stored nowhere
  last4 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  replaced_by TEXT REFERENCES api_key_copy (key_id) DEFERRABLE INITIALLY DEFERRED,
  last_used_at INTEGER
) STRICT;

INSERT INTO api_key_copy
  (serial, key_id, consumer_id, sha256, last4, created_by, created_at, expires_at, revoked_at,
    replaced_by, last_used_at)
SELECT rowid, keyId, consumerId, sha256, last4, createdBy, createdAt, expiresAt, revokedAt,
  replacedBy, lastUsedAt
FROM api_key ORDER BY rowid;

DROP TABLE api_key;
ALTER TABLE api_key_copy RENAME TO api_key;
CREATE INDEX api_key_by_consumer ON api_key (consumer_id, created_at, serial);

ALTER TABLE change_batch RENAME COLUMN instanceId TO instance_id;
