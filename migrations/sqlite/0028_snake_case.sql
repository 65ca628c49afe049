-- breaking
-- Columns are called as in the other engine, so that one text is the statement of both.

ALTER TABLE session RENAME COLUMN issuerSubject TO issuer_subject;
ALTER TABLE session RENAME COLUMN issuerSession TO issuer_session;
ALTER TABLE session RENAME COLUMN timeZone TO time_zone;
ALTER TABLE session RENAME COLUMN startedAt TO started_at;
ALTER TABLE session RENAME COLUMN usedAt TO used_at;
ALTER TABLE session RENAME COLUMN endsAt TO ends_at;
ALTER TABLE session RENAME COLUMN renewAt TO renew_at;
ALTER TABLE session RENAME COLUMN renewingUntil TO renewing_until;
ALTER TABLE session_once RENAME COLUMN endsAt TO ends_at;
ALTER TABLE logout_token RENAME COLUMN endsAt TO ends_at;

ALTER TABLE traffic RENAME COLUMN lastAt TO last_at;

ALTER TABLE audit RENAME COLUMN actorKind TO actor_kind;
ALTER TABLE audit RENAME COLUMN actorSubject TO actor_subject;
ALTER TABLE audit RENAME COLUMN actorClientId TO actor_client_id;
ALTER TABLE audit RENAME COLUMN requestId TO request_id;

ALTER TABLE idempotency_key RENAME COLUMN workspaceId TO workspace_id;
ALTER TABLE idempotency_key RENAME COLUMN startedAt TO started_at;
