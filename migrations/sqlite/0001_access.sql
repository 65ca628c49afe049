-- breaking
-- Consumers, their keys and grants, and the audit log. Times are milliseconds since the Unix epoch.

CREATE TABLE consumer (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'revoked')),
  limitPerMinute INTEGER CHECK (limitPerMinute > 0),
  createdAt INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  keyId TEXT PRIMARY KEY,
  consumerId TEXT NOT NULL REFERENCES consumer (id),
  sha256 BLOB NOT NULL, -- of the whole key, which is shown once and stored nowhere
  last4 TEXT NOT NULL,
  createdBy TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER,
  revokedAt INTEGER,
  replacedBy TEXT REFERENCES api_key (keyId),
  lastUsedAt INTEGER
) STRICT;

CREATE INDEX api_key_by_consumer ON api_key (consumerId, createdAt);

CREATE TABLE consumer_grant (
  consumerId TEXT NOT NULL REFERENCES consumer (id),
  action TEXT NOT NULL,
  labels TEXT, -- JSON array of label names; NULL means unrestricted
  PRIMARY KEY (consumerId, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actorKind TEXT NOT NULL,
  actorSubject TEXT NOT NULL,
  actorClientId TEXT,
  action TEXT NOT NULL, -- noun.verb
  subject TEXT NOT NULL,
  changes TEXT, -- JSON object
  requestId TEXT
) STRICT;

CREATE INDEX audit_by_subject ON audit (subject, id);
