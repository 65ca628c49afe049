-- compatible
-- Sessions of people at the portal. The browser has a random id, the row its SHA-256; who it is and
-- the issuer's tokens are encrypted.

CREATE TABLE session (
  digest bytea PRIMARY KEY,
  issuer_subject text NOT NULL, -- sub of the ID token
  issuer_session text, -- its sid
  time_zone text NOT NULL,
  started_at bigint NOT NULL, -- instants are milliseconds since the Unix epoch
  used_at bigint NOT NULL,
  ends_at bigint NOT NULL,
  renew_at bigint, -- null: its access token cannot be renewed
  renewing_until bigint, -- one instance renews it
  sealed bytea NOT NULL
);

CREATE INDEX session_by_subject ON session (issuer_subject);
CREATE INDEX session_by_issuer_session ON session (issuer_session) WHERE issuer_session IS NOT NULL;

-- What the next page shows once, such as a new key; encrypted.
CREATE TABLE session_once (
  digest bytea PRIMARY KEY,
  session bytea NOT NULL REFERENCES session (digest) ON DELETE CASCADE,
  ends_at bigint NOT NULL,
  sealed bytea NOT NULL
);

CREATE INDEX session_once_by_session ON session_once (session);

-- Logout tokens that were obeyed, so that none counts twice.
CREATE TABLE logout_token (
  digest bytea PRIMARY KEY,
  ends_at bigint NOT NULL
);
