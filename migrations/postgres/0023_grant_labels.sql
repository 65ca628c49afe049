-- breaking
-- The labels of a grant are JSON, as in the other engine.

ALTER TABLE consumer_grant ALTER COLUMN labels TYPE jsonb USING to_jsonb(labels);
