-- compatible
-- The removals feed is read from an instant on, so that a removal dated before one that a reader has
-- already seen would never be read. The newest removedAt outlives the claim that had it: a claim can
-- be taken back, and the clock be set back, in between.

ALTER TABLE claim_version ADD COLUMN lastRemovedAt INTEGER NOT NULL DEFAULT 0; -- the greatest ever

UPDATE claim_version SET lastRemovedAt = (SELECT coalesce(max(removedAt), 0) FROM claim);

DROP TRIGGER claim_made;

CREATE TRIGGER claim_made AFTER INSERT ON claim BEGIN
  UPDATE claim_version
  SET version = version + 1, lastRemovedAt = max(lastRemovedAt, NEW.removedAt);
END;
