-- breaking
-- Columns are called as in the other engine, so that one text is the statement of both: those of receipts, claims,
-- the lead directory and the worker.

ALTER TABLE receipt RENAME COLUMN partnerId TO partner_id;
ALTER TABLE receipt RENAME COLUMN eventType TO event_type;
ALTER TABLE receipt RENAME COLUMN externalId TO external_id;
ALTER TABLE receipt RENAME COLUMN correlationId TO correlation_id;
ALTER TABLE receipt RENAME COLUMN receivedAt TO received_at;

ALTER TABLE event RENAME COLUMN eventType TO event_type;
ALTER TABLE event RENAME COLUMN eventId TO event_id;
ALTER TABLE event RENAME COLUMN externalId TO external_id;
ALTER TABLE event RENAME COLUMN leadIds TO lead_ids;
ALTER TABLE event RENAME COLUMN lastError TO last_error;
ALTER TABLE event RENAME COLUMN completedAt TO completed_at;
ALTER TABLE event RENAME COLUMN dueAt TO due_at;
ALTER TABLE event RENAME COLUMN leaseToken TO lease_token;
ALTER TABLE event RENAME COLUMN leaseUntil TO lease_until;
ALTER TABLE event RENAME COLUMN askedAt TO asked_at;
ALTER TABLE event RENAME COLUMN acknowledgedAt TO acknowledged_at;

ALTER TABLE same_event RENAME COLUMN idKey TO id_key;
ALTER TABLE same_event RENAME COLUMN personKey TO person_key;
ALTER TABLE same_event RENAME COLUMN firstSeenAt TO first_seen_at;

ALTER TABLE late_look RENAME COLUMN repositoryId TO repository_id;
ALTER TABLE late_look RENAME COLUMN keyHash TO key_hash;
ALTER TABLE late_look RENAME COLUMN matchedAt TO matched_at;
ALTER TABLE late_look RENAME COLUMN createdBefore TO created_before;
ALTER TABLE late_look RENAME COLUMN dueAt TO due_at;

ALTER TABLE claim RENAME COLUMN repositoryId TO repository_id;
ALTER TABLE claim RENAME COLUMN receiptId TO receipt_id;
ALTER TABLE claim RENAME COLUMN claimedAt TO claimed_at;
ALTER TABLE claim RENAME COLUMN removedAt TO removed_at;
ALTER TABLE claim RENAME COLUMN releasedAt TO released_at;
ALTER TABLE claim RENAME COLUMN isProvisional TO is_provisional;

ALTER TABLE claim_version RENAME COLUMN lastRemovedAt TO last_removed_at;

ALTER TABLE tracker_repository RENAME COLUMN repositoryId TO repository_id;
ALTER TABLE tracker_repository RENAME COLUMN seenAt TO seen_at;

ALTER TABLE directory_lead RENAME COLUMN repositoryId TO repository_id;
ALTER TABLE directory_lead RENAME COLUMN updatedAt TO updated_at;
ALTER TABLE directory_lead RENAME COLUMN isMoved TO is_moved;
ALTER TABLE directory_lead RENAME COLUMN createdAt TO created_at;

ALTER TABLE directory_key RENAME COLUMN keyHash TO key_hash;
ALTER TABLE directory_key RENAME COLUMN repositoryId TO repository_id;

ALTER TABLE directory_approval RENAME COLUMN repositoryId TO repository_id;

ALTER TABLE directory_merge RENAME COLUMN fromHash TO from_hash;
ALTER TABLE directory_merge RENAME COLUMN toHash TO to_hash;

ALTER TABLE directory_state RENAME COLUMN repositoryId TO repository_id;
ALTER TABLE directory_state RENAME COLUMN rulesCheck TO rules_check;
ALTER TABLE directory_state RENAME COLUMN crawlStartedAt TO crawl_started_at;
ALTER TABLE directory_state RENAME COLUMN crawlIssues TO crawl_issues;
ALTER TABLE directory_state RENAME COLUMN crawlReached TO crawl_reached;
ALTER TABLE directory_state RENAME COLUMN completedAt TO completed_at;
ALTER TABLE directory_state RENAME COLUMN caughtUpTo TO caught_up_to;

ALTER TABLE worker_lease RENAME COLUMN hasLock TO has_lock;
ALTER TABLE worker_lease RENAME COLUMN isAsked TO is_asked;
