-- breaking
-- Consumers, their keys and grants, and the audit log. Times are milliseconds since the Unix epoch.

CREATE TABLE consumer (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
  limitPerMinute INTEGER CHECK (limitPerMinute > 0), -- NULL means the default
  createdAt INTEGER NOT NULL
) STRICT;

CREATE INDEX consumer_by_age ON consumer (createdAt, id);

CREATE TABLE api_key (
  keyId TEXT PRIMARY KEY,
  consumerId TEXT NOT NULL REFERENCES consumer (id),
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32), -- of the whole key, which is stored nowhere
  last4 TEXT NOT NULL,
  createdBy TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER,
  revokedAt INTEGER,
  replacedBy TEXT REFERENCES api_key (keyId) DEFERRABLE INITIALLY DEFERRED,
  lastUsedAt INTEGER
) STRICT;

CREATE INDEX api_key_by_consumer ON api_key (consumerId, createdAt);

CREATE TABLE consumer_grant (
  consumerId TEXT NOT NULL REFERENCES consumer (id),
  action TEXT NOT NULL,
  labels TEXT CHECK (json_valid(labels)), -- array of label names; NULL means every lead
  PRIMARY KEY (consumerId, action)
) STRICT, WITHOUT ROWID;

-- One row that moves on with every change above except lastUsedAt, so that readers in other
-- processes notice without reading the rest.
CREATE TABLE access_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;

INSERT INTO access_version (id, version) VALUES (1, 1);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actorKind TEXT NOT NULL CHECK (actorKind IN ('cli', 'token', 'system')),
  actorSubject TEXT NOT NULL,
  actorClientId TEXT,
  action TEXT NOT NULL, -- noun.verb
  subject TEXT NOT NULL, -- noun/id
  changes TEXT CHECK (json_valid(changes)), -- object: names and new values
  requestId TEXT
) STRICT;

CREATE INDEX audit_by_subject ON audit (subject, id);
