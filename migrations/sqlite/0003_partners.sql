-- compatible
-- What partners sent, what became of it, and the work that is still due. Times are milliseconds
-- since the Unix epoch.

-- One accepted delivery. `number` is the order of acceptance.
CREATE TABLE receipt (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- a UUID
  partnerId TEXT NOT NULL,
  path TEXT NOT NULL CHECK (path IN ('events', 'deletions')),
  eventType TEXT NOT NULL,
  externalId TEXT,
  correlationId TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ACCEPTED', 'PROCESSED', 'FAILED')),
  receivedAt INTEGER NOT NULL
) STRICT;

CREATE INDEX receipt_by_partner ON receipt (partnerId, number);
CREATE INDEX receipt_by_status ON receipt (status, number);
CREATE INDEX receipt_by_time ON receipt (receivedAt);

-- One event of a delivery. It is settled when its outcome is no longer PENDING.
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  receipt INTEGER NOT NULL REFERENCES receipt (number),
  position INTEGER NOT NULL, -- in the delivery, from 0; repeats leave gaps
  eventType TEXT, -- as it was sent
  eventId TEXT,
  externalId TEXT,
  outcome TEXT NOT NULL
    CHECK (outcome IN ('PENDING', 'DONE', 'UNMATCHED', 'IGNORED', 'REJECTED', 'FAILED')),
  erasure TEXT CHECK (erasure IN ('complete', 'incomplete-history', 'impossible')),
  leadIds TEXT, -- JSON array of issue numbers as text
  attempts INTEGER NOT NULL DEFAULT 0,
  lastError TEXT, -- a code, never a message
  completedAt INTEGER,
  payload BLOB, -- the event's bytes, AES-256-GCM; NULL once dropped
  -- Work, of use only while PENDING.
  dueAt INTEGER,
  leaseToken TEXT, -- fencing: only its holder may settle or reschedule
  leaseUntil INTEGER,
  progress TEXT, -- JSON, the worker's own: what is matched and done so far
  stage TEXT NOT NULL GENERATED ALWAYS AS
    (CASE WHEN progress ->> '$.stage' = 'act' THEN 'act' ELSE 'match' END) VIRTUAL,
  again INTEGER NOT NULL DEFAULT 0, -- when it came once more while it was worked, then it is worked again; 0: it did not
  UNIQUE (receipt, position),
  CHECK ((outcome = 'PENDING') = (dueAt IS NOT NULL)),
  CHECK ((outcome = 'PENDING') = (completedAt IS NULL))
) STRICT;

CREATE INDEX event_due ON event (stage, dueAt) WHERE outcome = 'PENDING';
CREATE INDEX event_by_outcome ON event (outcome, receipt);
CREATE INDEX event_with_payload ON event (completedAt) WHERE payload IS NOT NULL;

-- Which events came before: a keyed hash of all that makes two events the same. Kept for 30 days.
CREATE TABLE same_event (
  key BLOB PRIMARY KEY,
  event INTEGER NOT NULL REFERENCES event (id),
  firstSeenAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX same_event_by_time ON same_event (firstSeenAt);
