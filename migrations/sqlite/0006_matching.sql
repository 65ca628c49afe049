-- compatible
-- Telling whether a lead is known to belong to another person than an event names, which leads moved to
-- another repository, and which claims were made before a match was certain; and looking again for
-- leads that the tracker shows late.

-- 'email', 'correlation-id' or 'external-id/<partnerId>'; null: written by an earlier version, and
-- filled by the next crawl.
ALTER TABLE directory_key ADD COLUMN kind TEXT;

-- 1: the issue is in another repository. A tombstone: its deletion has to end with that truth.
ALTER TABLE directory_lead ADD COLUMN isMoved INTEGER NOT NULL DEFAULT 0 CHECK (isMoved IN (0, 1));

ALTER TABLE directory_lead ADD COLUMN createdAt INTEGER NOT NULL DEFAULT 0; -- 0: not read since

-- 1: made before the match was certain. The match confirms it, or takes it back.
ALTER TABLE claim ADD COLUMN isProvisional INTEGER NOT NULL DEFAULT 0
  CHECK (isProvisional IN (0, 1));

-- Readers read all claims again after a change: only after one that they can see.
DROP TRIGGER claim_changed;

CREATE TRIGGER claim_changed AFTER UPDATE OF repositoryId, number, releasedAt ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;

-- A person whose leads an event has matched, until the last look for leads that the tracker shows late.
-- What the event said of the person is gone by then: of it the deciding identity is left, as the same
-- keyed hash as in directory_key.
CREATE TABLE late_look (
  event INTEGER PRIMARY KEY REFERENCES event (id),
  repositoryId INTEGER NOT NULL,
  keyHash BLOB NOT NULL,
  actions TEXT NOT NULL, -- JSON array: what is to be done to a lead that is found
  matchedAt INTEGER NOT NULL,
  createdBefore INTEGER NOT NULL, -- by the tracker's clock: who comes back later is no late lead
  dueAt INTEGER NOT NULL
) STRICT;

CREATE INDEX late_look_due ON late_look (dueAt);
