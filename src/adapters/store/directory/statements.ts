import { CARRIED_LABELS_MAX } from '#leads/model/labels.ts';
import { IS_CLAIMED } from '../claim/lists.ts';
import { NAMED } from './repository.ts';

/** A claimed lead's row is frozen: a later event must find the person behind a redacted issue. */
const IS_FROZEN = IS_CLAIMED('directory_lead');

export const LEAD = `
  SELECT updated_at FROM directory_lead WHERE number = @number AND repository_id = ${NAMED}`;

export const STATE = `
  SELECT crawl, crawling AS is_crawling, crawl_started_at AS started_at, crawl_issues AS issues,
    crawl_reached AS reached, completed_at, caught_up_to
  FROM directory_state WHERE repository_id = ${NAMED}`;

export const RULES_CHECK = 'SELECT rules_check FROM directory_state WHERE repository_id = @id';

export const IDENTIFY = `
  INSERT INTO tracker_repository (name, repository_id, seen_at) VALUES (@name, @id, @at)
  ON CONFLICT (name) DO UPDATE SET repository_id = @id, seen_at = @at`;

/**
 * Rows of a page, each number once. Those that are claimed, or newer than what is told, stay as they
 * are; answers the numbers of the others.
 */
export const PUT_LEADS = `
  INSERT INTO directory_lead
    (repository_id, number, created_at, updated_at, approved, labels, crawl)
  SELECT state.repository_id, given.number, given.created_at, given.updated_at, given.is_approved,
    given.labels, state.crawl
  FROM directory_state AS state CROSS JOIN jsonb_to_recordset(@entries) AS given
    (number bigint, created_at bigint, updated_at bigint, is_approved boolean, labels jsonb)
  WHERE state.repository_id = @id
  ORDER BY given.number
  ON CONFLICT (repository_id, number) DO UPDATE SET created_at = excluded.created_at,
    updated_at = excluded.updated_at, approved = excluded.approved, labels = excluded.labels,
    crawl = excluded.crawl, is_moved = false
  WHERE excluded.updated_at >= directory_lead.updated_at AND NOT ${IS_FROZEN}
  RETURNING number`;

export const MARK_SEEN = `
  UPDATE directory_lead
  SET crawl = (SELECT crawl FROM directory_state WHERE repository_id = @id),
    updated_at = greatest(updated_at, @updatedAt)
  WHERE repository_id = @id AND number = @number`;

export const PUT_KEYS = `
  INSERT INTO directory_key (key_hash, repository_id, number, kind)
  SELECT hash, @id::bigint, number, min(kind)
  FROM jsonb_to_recordset(@keys) AS given (hash bytea, number bigint, kind text)
  WHERE EXISTS (SELECT 1 FROM directory_state WHERE repository_id = @id)
  GROUP BY hash, number
  ON CONFLICT (key_hash, repository_id, number) DO UPDATE SET kind = excluded.kind
  WHERE directory_key.kind IS NULL`;

/** Answers the leads that have got more labels by it. */
export const CARRY = `
  INSERT INTO directory_approval AS known (repository_id, number, labels)
  SELECT @id::bigint, number, labels
  FROM jsonb_to_recordset(@approvals) AS given (number bigint, labels jsonb)
  ORDER BY number
  ON CONFLICT (repository_id, number) DO UPDATE SET labels =
    (SELECT jsonb_agg(value) FROM (
      SELECT value FROM jsonb_array_elements_text(known.labels) AS value
      UNION SELECT value FROM jsonb_array_elements_text(excluded.labels) AS value) AS every)
  WHERE jsonb_array_length(known.labels) < ${CARRIED_LABELS_MAX}
    AND NOT known.labels @> excluded.labels
  RETURNING number`;

/** `former` is a list of one. */
export const RENAME_LABEL = `
  UPDATE directory_lead SET
    labels = (SELECT jsonb_agg(CASE value WHEN @from::text THEN @to::text ELSE value END)
      FROM jsonb_array_elements_text(labels) AS value),
    approved = @to::text = @approvedLabel::text OR (approved AND @from::text <> @approvedLabel::text)
  WHERE repository_id = @id AND labels @> @former::jsonb
  RETURNING number, labels, approved AS is_approved`;

export const DROP_KEYS = `
  DELETE FROM directory_key WHERE repository_id = @id AND number = @number`;

export const DROP_LEAD = `
  DELETE FROM directory_lead
  WHERE repository_id = @id AND number = @number AND NOT ${IS_FROZEN}`;

export const NOTE_MOVED = `
  UPDATE directory_lead SET is_moved = true WHERE repository_id = @id AND number = @number`;

export const CHUNK_END = `
  SELECT max(number) AS last FROM (SELECT number FROM directory_lead
    WHERE repository_id = @id AND number > @after ORDER BY number LIMIT @size) AS chunk
  HAVING max(number) IS NOT NULL`;

export const UNSEEN = `
  SELECT number FROM directory_lead
  WHERE repository_id = @id AND number > @after AND number <= @last AND NOT is_moved
    AND crawl < (SELECT crawl FROM directory_state WHERE repository_id = @id)
    AND NOT ${IS_FROZEN}
  ORDER BY number`;

export const BEGIN = `
  INSERT INTO directory_state AS state (repository_id, rules_check, crawl, crawling,
    crawl_started_at, crawl_issues, crawl_reached, completed_at, caught_up_to)
  VALUES (@id, @rules, 1, true, @at, 0, 0, NULL, 0)
  ON CONFLICT (repository_id) DO UPDATE SET rules_check = @rules,
    crawl = state.crawl + 1, crawling = true, crawl_started_at = @at, crawl_issues = 0,
    crawl_reached = 0, completed_at = NULL, caught_up_to = 0`;

export const START_CRAWL = `
  UPDATE directory_state SET crawl = crawl + 1, crawling = true, crawl_started_at = @at,
    crawl_issues = 0, crawl_reached = 0
  WHERE repository_id = @id`;

export const CRAWLED = `
  UPDATE directory_state SET crawl_issues = crawl_issues + @seen,
    crawl_reached = greatest(crawl_reached, @reached)
  WHERE repository_id = @id`;

export const COMPLETE_CRAWL = `
  UPDATE directory_state SET crawling = false, completed_at = @at,
    caught_up_to = greatest(caught_up_to, crawl_reached)
  WHERE repository_id = @id`;

export const CAUGHT_UP = `
  UPDATE directory_state SET caught_up_to = greatest(caught_up_to, @reached)
  WHERE repository_id = @id`;
