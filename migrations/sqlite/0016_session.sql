-- compatible
-- Sessions of people at the portal. The browser has a random id, the row its SHA-256; who it is and
-- the issuer's tokens are encrypted.

CREATE TABLE session (
  digest BLOB PRIMARY KEY,
  issuerSubject TEXT NOT NULL, -- sub of the ID token
  issuerSession TEXT, -- its sid
  timeZone TEXT NOT NULL,
  startedAt INTEGER NOT NULL, -- instants are milliseconds since the Unix epoch
  usedAt INTEGER NOT NULL,
  endsAt INTEGER NOT NULL,
  renewAt INTEGER, -- null: its access token cannot be renewed
  renewingUntil INTEGER, -- one instance renews it
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_subject ON session (issuerSubject);
CREATE INDEX session_by_issuer_session ON session (issuerSession) WHERE issuerSession IS NOT NULL;

-- What the next page shows once, such as a new key; encrypted.
CREATE TABLE session_once (
  digest BLOB PRIMARY KEY,
  session BLOB NOT NULL REFERENCES session (digest) ON DELETE CASCADE,
  endsAt INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_once_by_session ON session_once (session);

-- Logout tokens that were obeyed, so that none counts twice.
CREATE TABLE logout_token (
  digest BLOB PRIMARY KEY,
  endsAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
