-- breaking
-- What an operator asks of receipts: the status UNMATCHED, a note on an event, filters that are quick
-- at any size, and whether an event id came before with another person. A CHECK cannot be altered,
-- so the receipts are copied, and with them the tables that refer to them: children are dropped
-- before their parents, so that every reference holds all the time.

CREATE TABLE receipt_copy (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- a UUID
  partnerId TEXT NOT NULL,
  path TEXT NOT NULL CHECK (path IN ('events', 'deletions')),
  eventType TEXT NOT NULL,
  externalId TEXT,
  correlationId TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ACCEPTED', 'PROCESSED', 'UNMATCHED', 'FAILED')),
  receivedAt INTEGER NOT NULL
) STRICT;

INSERT INTO receipt_copy
  (number, id, partnerId, path, eventType, externalId, correlationId, status, receivedAt)
SELECT number, id, partnerId, path, eventType, externalId, correlationId,
  CASE WHEN status = 'PROCESSED' AND EXISTS (SELECT 1 FROM event
    WHERE event.receipt = receipt.number AND outcome IN ('UNMATCHED', 'REJECTED'))
  THEN 'UNMATCHED' ELSE status END,
  receivedAt
FROM receipt;

-- One event of a delivery. It is settled when its outcome is no longer PENDING.
CREATE TABLE event_copy (
  id INTEGER PRIMARY KEY,
  receipt INTEGER NOT NULL REFERENCES receipt_copy (number),
  position INTEGER NOT NULL, -- in the delivery, from 0; repeats leave gaps
  eventType TEXT, -- as it was sent
  eventId TEXT,
  externalId TEXT,
  outcome TEXT NOT NULL
    CHECK (outcome IN ('PENDING', 'DONE', 'UNMATCHED', 'IGNORED', 'REJECTED', 'FAILED')),
  erasure TEXT CHECK (erasure IN ('complete', 'incomplete-history', 'impossible')),
  note TEXT, -- a code: what a reader of the receipt should know besides the outcome
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

INSERT INTO event_copy
  (id, receipt, position, eventType, eventId, externalId, outcome, erasure, note, leadIds, attempts,
    lastError, completedAt, payload, dueAt, leaseToken, leaseUntil, progress, again)
SELECT id, receipt, position, eventType, eventId, externalId, outcome, erasure,
  CASE WHEN EXISTS (SELECT 1 FROM claim WHERE claim.event = event.id AND releasedAt IS NOT NULL)
  THEN 'claim-released' END,
  leadIds, attempts, lastError, completedAt, payload, dueAt, leaseToken, leaseUntil, progress, again
FROM event;

-- Which events came before: keyed hashes, kept for 30 days. What came before this migration has no
-- `idKey`, and a `key` that knew the person by the external id only.
CREATE TABLE same_event_copy (
  key BLOB PRIMARY KEY, -- of all that makes two events the same
  event INTEGER NOT NULL REFERENCES event_copy (id),
  firstSeenAt INTEGER NOT NULL,
  idKey BLOB, -- of partner, path, account, type and event id; NULL: the event has no id
  personKey BLOB -- of all that names the person
) STRICT, WITHOUT ROWID;

INSERT INTO same_event_copy (key, event, firstSeenAt) SELECT key, event, firstSeenAt FROM same_event;

DROP TABLE same_event;
DROP TABLE event;
DROP TABLE receipt;
ALTER TABLE receipt_copy RENAME TO receipt;
ALTER TABLE event_copy RENAME TO event;
ALTER TABLE same_event_copy RENAME TO same_event;

CREATE INDEX receipt_by_partner ON receipt (partnerId, number);
CREATE INDEX receipt_by_status ON receipt (status, number);
CREATE INDEX receipt_by_time ON receipt (receivedAt);
CREATE INDEX receipt_by_correlation ON receipt (correlationId, number);

CREATE INDEX event_due ON event (stage, dueAt) WHERE outcome = 'PENDING';
CREATE INDEX event_by_outcome ON event (outcome, receipt);
CREATE INDEX event_by_event_id ON event (eventId, receipt) WHERE eventId IS NOT NULL;
CREATE INDEX event_by_external_id ON event (externalId, receipt) WHERE externalId IS NOT NULL;
CREATE INDEX event_with_payload ON event (completedAt) WHERE payload IS NOT NULL;

CREATE INDEX same_event_by_time ON same_event (firstSeenAt);
CREATE INDEX same_event_by_id ON same_event (idKey, personKey) WHERE idKey IS NOT NULL;

-- `event.leadIds` the other way round, in the order of receipts.
CREATE TABLE event_lead (
  number INTEGER NOT NULL,
  receipt INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (number, receipt, event)
) STRICT, WITHOUT ROWID;

INSERT INTO event_lead (number, receipt, event)
SELECT DISTINCT CAST(lead.value AS INTEGER), event.receipt, event.id
FROM event, json_each(event.leadIds) AS lead
WHERE event.leadIds IS NOT NULL;

CREATE TRIGGER event_leads_given AFTER INSERT ON event WHEN NEW.leadIds IS NOT NULL BEGIN
  INSERT OR IGNORE INTO event_lead (number, receipt, event)
  SELECT CAST(value AS INTEGER), NEW.receipt, NEW.id FROM json_each(NEW.leadIds);
END;

CREATE TRIGGER event_leads_changed AFTER UPDATE OF leadIds ON event
WHEN OLD.leadIds IS NOT NEW.leadIds BEGIN
  DELETE FROM event_lead WHERE receipt = OLD.receipt AND event = OLD.id
    AND number IN (SELECT CAST(value AS INTEGER) FROM json_each(coalesce(OLD.leadIds, '[]')));
  INSERT OR IGNORE INTO event_lead (number, receipt, event)
  SELECT CAST(value AS INTEGER), NEW.receipt, NEW.id FROM json_each(coalesce(NEW.leadIds, '[]'));
END;

-- A lead may be claimed by its number before anything else of it is known: `approved` and `labels`
-- are filled in when it is, and `removedAt` becomes that instant, for the feed has passed the first.
-- A claim made before the repository's number is known has 0 for it until then.
ALTER TABLE claim ADD COLUMN isDescribed INTEGER NOT NULL DEFAULT 1 CHECK (isDescribed IN (0, 1));

CREATE INDEX claim_undescribed ON claim (repositoryId, number) WHERE isDescribed = 0;
