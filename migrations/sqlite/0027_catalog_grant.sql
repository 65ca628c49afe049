-- compatible
-- Grants of catalog:read name the workspace whose catalog the consumer reads.

ALTER TABLE consumer_grant ADD COLUMN workspace TEXT;
