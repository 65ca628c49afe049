-- compatible
-- Who got through and who did not, summed by UTC day: partners and the tracker's webhook, the secret
-- by the start of its digest, refusals by reason. No people, nothing of a body. Kept for 30 days.

CREATE TABLE traffic (
  sender TEXT NOT NULL, -- a partner's id, or @tracker
  kind TEXT NOT NULL CHECK (kind IN ('verified', 'refused')),
  detail TEXT NOT NULL, -- eight hexadecimal digits of the secret's SHA-256, or the reason
  day INTEGER NOT NULL, -- days since the Unix epoch
  count INTEGER NOT NULL,
  lastAt INTEGER NOT NULL, -- milliseconds since the Unix epoch
  PRIMARY KEY (sender, kind, detail, day)
) STRICT, WITHOUT ROWID;
