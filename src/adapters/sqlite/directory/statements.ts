import type BetterSqlite3 from 'better-sqlite3';
import type {
  DirectoryState,
  HashedIdentity,
  LabelRename,
} from '#leads/directory/lead-directory.ts';
import { CARRIED_LABELS_MAX } from '#leads/directory/carried-labels.ts';
import type { RowOf } from '#shared/store/row.ts';

type LeadKey = { id: number; number: number };

type LeadFacts = { createdAt: number; updatedAt: number; approved: number; labels: string };

type StateRow = RowOf<Omit<DirectoryState, 'isCrawling'>> & { crawling: 0 | 1 };

/** A claimed lead's row is frozen: a later event must find the person behind a redacted issue. */
const IS_CLAIMED = `
  EXISTS (SELECT 1 FROM claim
    WHERE claim.repositoryId = directory_lead.repositoryId
      AND claim.number = directory_lead.number AND releasedAt IS NULL)`;

const NAMED = '(SELECT repositoryId FROM tracker_repository WHERE name = ?)';

export type DirectoryStatements = ReturnType<typeof prepareDirectory>;

/** Every statement that writes the lead directory, and those that a write needs to read. */
export function prepareDirectory(handle: BetterSqlite3.Database) {
  return { ...prepareIds(handle), ...prepareRows(handle), ...prepareCrawl(handle) };
}

export type DirectoryReads = ReturnType<typeof prepareDirectoryReads>;

/** Every statement that only reads it. */
export function prepareDirectoryReads(handle: BetterSqlite3.Database) {
  return { ...prepareIds(handle), ...prepareLookups(handle) };
}

function prepareIds(handle: BetterSqlite3.Database) {
  return {
    repositoryId: handle
      .prepare<[string], number>('SELECT repositoryId FROM tracker_repository WHERE name = ?')
      .pluck(),
    rulesCheck: handle
      .prepare<[number], Buffer>('SELECT rulesCheck FROM directory_state WHERE repositoryId = ?')
      .pluck(),
  };
}

function prepareLookups(handle: BetterSqlite3.Database) {
  return {
    has: handle
      .prepare<[number, string], number>(
        `SELECT 1 FROM directory_lead WHERE number = ? AND repositoryId = ${NAMED}`,
      )
      .pluck(),
    updatedAt: handle
      .prepare<[number, string], number>(
        `SELECT updatedAt FROM directory_lead WHERE number = ? AND repositoryId = ${NAMED}`,
      )
      .pluck(),
    state: handle.prepare<[string], StateRow>(`
      SELECT crawl, crawling, crawlStartedAt AS startedAt, crawlIssues AS issues,
        crawlReached AS reached, completedAt, caughtUpTo
      FROM directory_state WHERE repositoryId = ${NAMED}`),
    chunkEnd: handle
      .prepare<[{ id: number; after: number; size: number }], number>(`
        SELECT max(number) FROM (SELECT number FROM directory_lead
          WHERE repositoryId = @id AND number > @after ORDER BY number LIMIT @size)
        HAVING max(number) IS NOT NULL`)
      .pluck(),
    unseen: handle
      .prepare<[{ id: number; after: number; last: number }], number>(`
        SELECT number FROM directory_lead WHERE repositoryId = @id
          AND number > @after AND number <= @last
          AND isMoved = 0
          AND crawl < (SELECT crawl FROM directory_state WHERE repositoryId = @id)
          AND NOT ${IS_CLAIMED}`)
      .pluck(),
  };
}

function prepareRows(handle: BetterSqlite3.Database) {
  return {
    identify: handle.prepare<[{ name: string; id: number; at: number }]>(`
      INSERT INTO tracker_repository (name, repositoryId, seenAt) VALUES (@name, @id, @at)
      ON CONFLICT (name) DO UPDATE SET repositoryId = @id, seenAt = @at`),
    putLead: handle.prepare<[LeadKey & LeadFacts]>(`
      INSERT INTO directory_lead (repositoryId, number, createdAt, updatedAt, approved, labels, crawl)
      SELECT @id, @number, @createdAt, @updatedAt, @approved, @labels, crawl
      FROM directory_state WHERE repositoryId = @id
      ON CONFLICT (repositoryId, number) DO UPDATE SET createdAt = excluded.createdAt,
        updatedAt = excluded.updatedAt, approved = excluded.approved, labels = excluded.labels,
        crawl = excluded.crawl, isMoved = 0
      WHERE excluded.updatedAt >= directory_lead.updatedAt AND NOT ${IS_CLAIMED}`),
    markSeen: handle.prepare<[LeadKey & { updatedAt: number }]>(`
      UPDATE directory_lead
      SET crawl = (SELECT crawl FROM directory_state WHERE repositoryId = @id),
        updatedAt = max(updatedAt, @updatedAt)
      WHERE repositoryId = @id AND number = @number`),
    putKey: handle.prepare<[LeadKey & HashedIdentity]>(`
      INSERT INTO directory_key (keyHash, repositoryId, number, kind)
      VALUES (@hash, @id, @number, @kind)
      ON CONFLICT DO UPDATE SET kind = excluded.kind WHERE directory_key.kind IS NULL`),
    ...prepareLabels(handle),
    dropKeys: handle.prepare<[LeadKey]>(
      'DELETE FROM directory_key WHERE repositoryId = @id AND number = @number',
    ),
    dropLead: handle.prepare<[LeadKey]>(
      `DELETE FROM directory_lead
       WHERE repositoryId = @id AND number = @number AND NOT ${IS_CLAIMED}`,
    ),
    noteMoved: handle.prepare<[LeadKey]>(
      'UPDATE directory_lead SET isMoved = 1 WHERE repositoryId = @id AND number = @number',
    ),
  };
}

function prepareLabels(handle: BetterSqlite3.Database) {
  return {
    carry: handle.prepare<[LeadKey & { labels: string }]>(`
      INSERT INTO directory_approval AS known (repositoryId, number, labels)
      VALUES (@id, @number, @labels)
      ON CONFLICT (repositoryId, number) DO UPDATE SET labels =
        (SELECT json_group_array(value) FROM
          (SELECT value FROM json_each(known.labels)
           UNION SELECT value FROM json_each(excluded.labels)))
      WHERE json_array_length(known.labels) < ${CARRIED_LABELS_MAX} AND EXISTS
        (SELECT value FROM json_each(excluded.labels)
         EXCEPT SELECT value FROM json_each(known.labels))`),
    renameLabel: handle.prepare<
      [LabelRename & { id: number }],
      { number: number; labels: string; approved: 0 | 1 }
    >(`
      UPDATE directory_lead SET
        labels = (SELECT json_group_array(iif(value = @from, @to, value)) FROM json_each(labels)),
        approved = @to = @approvedLabel OR (approved AND @from <> @approvedLabel)
      WHERE repositoryId = @id AND @from IN (SELECT value FROM json_each(labels))
      RETURNING number, labels, approved`),
  };
}

function prepareCrawl(handle: BetterSqlite3.Database) {
  return {
    begin: handle.prepare<[{ id: number; at: number; rules: Buffer }]>(`
      INSERT INTO directory_state (repositoryId, rulesCheck, crawl, crawling,
        crawlStartedAt, crawlIssues, crawlReached, completedAt, caughtUpTo)
      VALUES (@id, @rules, 1, 1, @at, 0, 0, NULL, 0)
      ON CONFLICT (repositoryId) DO UPDATE SET rulesCheck = @rules,
        crawl = crawl + 1, crawling = 1, crawlStartedAt = @at, crawlIssues = 0,
        crawlReached = 0, completedAt = NULL, caughtUpTo = 0`),
    startCrawl: handle.prepare<[{ id: number; at: number }]>(`
      UPDATE directory_state SET crawl = crawl + 1, crawling = 1, crawlStartedAt = @at,
        crawlIssues = 0, crawlReached = 0
      WHERE repositoryId = @id`),
    crawled: handle.prepare<[{ id: number; seen: number; reached: number }]>(`
      UPDATE directory_state SET crawlIssues = crawlIssues + @seen,
        crawlReached = max(crawlReached, @reached)
      WHERE repositoryId = @id`),
    completeCrawl: handle.prepare<[{ id: number; at: number }]>(`
      UPDATE directory_state SET crawling = 0, completedAt = @at,
        caughtUpTo = max(caughtUpTo, crawlReached)
      WHERE repositoryId = @id`),
    caughtUp: handle.prepare<[{ id: number; reached: number }]>(
      'UPDATE directory_state SET caughtUpTo = max(caughtUpTo, @reached) WHERE repositoryId = @id',
    ),
  };
}
