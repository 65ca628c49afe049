-- breaking
-- Lists are JSON, as in the other engine.

ALTER TABLE directory_lead ALTER COLUMN labels TYPE jsonb USING to_jsonb(labels);
ALTER TABLE directory_approval ALTER COLUMN labels TYPE jsonb USING to_jsonb(labels);
ALTER TABLE late_look ALTER COLUMN actions TYPE jsonb USING to_jsonb(actions);

DROP INDEX event_by_lead;
ALTER TABLE event ALTER COLUMN lead_ids TYPE jsonb USING to_jsonb(lead_ids);
CREATE INDEX event_by_lead ON event USING gin (lead_ids jsonb_path_ops) WHERE lead_ids IS NOT NULL;

-- Receipts and events are numbered by whoever writes them: nobody else does at the same time.
ALTER TABLE receipt ALTER COLUMN number DROP IDENTITY;
ALTER TABLE event ALTER COLUMN id DROP IDENTITY;
