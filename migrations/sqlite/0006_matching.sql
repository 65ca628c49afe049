-- compatible
-- Telling whether a lead is known to belong to another person than an event names.

-- 'email', 'correlation-id' or 'external-id/<partnerId>'; null: written by an earlier version, and
-- filled by the next crawl.
ALTER TABLE directory_key ADD COLUMN kind TEXT;
