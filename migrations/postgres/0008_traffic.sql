-- compatible
-- Who got through and who did not, summed by UTC day: partners and the tracker's webhook, the secret
-- by the start of its digest, refusals by reason. No people, nothing of a body. Kept for 30 days.

CREATE TABLE traffic (
  sender text NOT NULL, -- a partner's id, or @tracker
  kind text NOT NULL CHECK (kind IN ('verified', 'refused')),
  detail text NOT NULL, -- eight hexadecimal digits of the secret's SHA-256, or the reason
  day bigint NOT NULL, -- days since the Unix epoch
  count bigint NOT NULL,
  last_at bigint NOT NULL, -- milliseconds since the Unix epoch
  PRIMARY KEY (sender, kind, detail, day)
);
