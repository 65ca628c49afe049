-- compatible
-- Telling whether a lead is known to belong to another person than an event names, which leads moved to
-- another repository, and which claims were made before a match was certain.

-- 'email', 'correlation-id' or 'external-id/<partnerId>'; null: written by an earlier version, and
-- filled by the next crawl.
ALTER TABLE directory_key ADD COLUMN kind TEXT;

-- 1: the issue is in another repository. A tombstone: its deletion has to end with that truth.
ALTER TABLE directory_lead ADD COLUMN isMoved INTEGER NOT NULL DEFAULT 0 CHECK (isMoved IN (0, 1));

-- 1: made before the match was certain. The match confirms it, or takes it back.
ALTER TABLE claim ADD COLUMN isProvisional INTEGER NOT NULL DEFAULT 0
  CHECK (isProvisional IN (0, 1));

-- Readers read all claims again after a change: only after one that they can see.
DROP TRIGGER claim_changed;

CREATE TRIGGER claim_changed AFTER UPDATE OF repositoryId, number, releasedAt ON claim BEGIN
  UPDATE claim_version SET version = version + 1, withdrawn = withdrawn + 1;
END;
