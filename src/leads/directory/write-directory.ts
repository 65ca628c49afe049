/**
 * Issue number ↔ keyed hashes, for the repository of the configured name. A lead keeps every identity that it ever had,
 * until its row goes: a person is found by the address that somebody corrected yesterday. So it does every label that
 * it carried while it was approved, older states, claimed leads and issues that are gone among them: by these the lead
 * feed finds whom to tell. Rows of claimed leads are frozen: no write removes them, or changes more of them than when
 * they were seen and what identities are added.
 */
import type { Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import { adoptClaims, endDeletionNames } from '../claims/claim-leads.ts';
import {
  beginEra,
  hideLeads,
  noteCrawlEnd,
  noteLeads,
  type Seen,
} from '../lead-feed/stored-changes.ts';
import { type DirectoryStore, numbersOf, readRepositoryId } from '../lead-store.ts';
import { READING_VERSION } from '../model/identity.ts';
import { IS_FROZEN } from './directory-view.ts';
import { carriedOf, type DirectoryEntry, type LabelRename } from './lead-directory.ts';

const RULES_CHECK = 'SELECT rules_check FROM directory_state WHERE repository_id = @id';

const SEEN_LAST =
  'SELECT repository_id, seen_at FROM tracker_repository ORDER BY seen_at DESC LIMIT 1';

const IDENTIFY = `
  INSERT INTO tracker_repository (name, repository_id, seen_at) VALUES (@name, @id, @at)
  ON CONFLICT (name) DO UPDATE SET repository_id = @id, seen_at = @at`;

const BEGIN = `
  INSERT INTO directory_state AS state (repository_id, rules_check, crawl, crawling,
    crawl_started_at, crawl_issues, crawl_reached, completed_at, caught_up_to)
  VALUES (@id, @rules, 1, true, @at, 0, 0, NULL, 0)
  ON CONFLICT (repository_id) DO UPDATE SET rules_check = @rules,
    crawl = state.crawl + 1, crawling = true, crawl_started_at = @at, crawl_issues = 0,
    crawl_reached = 0, completed_at = NULL, caught_up_to = 0`;

/**
 * The name means the repository of this number from now on: claims that were made before it was known become its own. A
 * first crawl begins where one is due: for a new number, or when the last one was begun with another check. A check
 * without a byte is that of a store that was restored: as then, and behind another repository, readers of the lead feed
 * begin again. @throws {store-unavailable}
 */
export function adoptRepository(
  { db, repository: name }: DirectoryStore,
  id: number,
  { rules, at }: { rules: Buffer; at: number },
): Promise<void> {
  return db.exclusive(async (tx) => {
    const last = await tx.get<{ repositoryId: number; seenAt: number }>(SEEN_LAST);
    await tx.run(IDENTIFY, { name, id, at: Math.max(at, (last?.seenAt ?? 0) + 1) });
    await adoptClaims(tx, id, at);
    const stored = await tx.get<{ rulesCheck: Buffer }>(RULES_CHECK, { id });
    if (stored?.rulesCheck.equals(rules) !== true) await tx.run(BEGIN, { id, rules, at });
    const isOther = last !== undefined && last.repositoryId !== id;
    if (isOther || stored?.rulesCheck.length === 0) await beginEra(tx, { id, at });
  });
}

/**
 * Adds rows, or replaces the approval and labels of those that are not newer than the entry. Identities are added,
 * those of an older entry too, and never taken away. @throws {store-unavailable}
 */
export function putEntries(
  store: DirectoryStore,
  entries: readonly DirectoryEntry[],
): Promise<void> {
  return inRepository(store, (tx, id) => putPage(tx, id, { store, entries }));
}

const CAUGHT_UP = `
  UPDATE directory_state SET caught_up_to = greatest(caught_up_to, @reached)
  WHERE repository_id = @id`;

/** Puts the page of a catch-up, whose rows were changed up to `reached`. @throws {store-unavailable} */
export function putCaughtUp(
  store: DirectoryStore,
  entries: readonly DirectoryEntry[],
  reached: number,
): Promise<void> {
  return inRepository(store, async (tx, id) => {
    await putPage(tx, id, { store, entries });
    await tx.run(CAUGHT_UP, { id, reached });
  });
}

/** Puts what readers were shown. @throws {store-unavailable} */
export function putRead(store: DirectoryStore, entries: readonly DirectoryEntry[]): Promise<void> {
  return inRepository(store, (tx, id) => putPage(tx, id, { store, entries, mayBeOld: true }));
}

const CRAWLED = `
  UPDATE directory_state SET crawl_issues = crawl_issues + @seen,
    crawl_reached = greatest(crawl_reached, @reached)
  WHERE repository_id = @id`;

/** Puts the page of the running crawl. @throws {store-unavailable} */
export function putCrawled(
  store: DirectoryStore,
  entries: readonly DirectoryEntry[],
  reached: number,
): Promise<void> {
  return inRepository(store, async (tx, id) => {
    await putPage(tx, id, { store, entries, mayBeOld: true });
    await tx.run(CRAWLED, { id, seen: entries.length, reached });
  });
}

/** `former`, `approval` and `deletion` are lists of one label each. */
const RENAME_LABEL = `
  UPDATE directory_lead SET
    labels = (SELECT jsonb_agg(CASE value WHEN @from::text THEN @to::text ELSE value END)
      FROM jsonb_array_elements_text(labels) AS value),
    approved = (@to::text = @approvedLabel::text OR (labels @> @approval::jsonb AND @from::text <> @approvedLabel::text))
      AND NOT (@to::text = @deletedLabel::text OR (labels @> @deletion::jsonb AND @from::text <> @deletedLabel::text))
  WHERE repository_id = @id AND labels @> @former::jsonb
  RETURNING number`;

/** Takes the issues that carry the label for ones that carry it by its new name. @throws {store-unavailable} */
export function renameLabel(store: DirectoryStore, rename: LabelRename): Promise<void> {
  return inRepository(store, async (tx, id) => {
    const [former, approval, deletion] = [
      rename.from,
      rename.approvedLabel,
      rename.deletedLabel,
    ].map((label) => JSON.stringify([label]));
    const values = { ...rename, id, former, approval, deletion };
    const rows = await tx.all<{ number: number }>(RENAME_LABEL, values);
    await noteLeads(tx, { id, numbers: numbersOf(rows), at: store.clock.now() });
  });
}

const START_CRAWL = `
  UPDATE directory_state SET crawl = crawl + 1, crawling = true, crawl_started_at = @at,
    crawl_issues = 0, crawl_reached = 0
  WHERE repository_id = @id`;

/** @throws {store-unavailable} */
export function startCrawl(store: DirectoryStore, at: number): Promise<void> {
  return inRepository(store, (tx, id) => tx.run(START_CRAWL, { id, at }));
}

const COMPLETE_CRAWL = `
  UPDATE directory_state SET crawling = false, completed_at = @at,
    caught_up_to = greatest(caught_up_to, crawl_reached)
  WHERE repository_id = @id`;

/** Ends the crawl, and the deletions that it has outlived. @throws {store-unavailable} */
export function completeCrawl(store: DirectoryStore, at: number): Promise<void> {
  return inRepository(store, async (tx, id) => {
    await noteCrawlEnd(tx, { id, at });
    await tx.run(COMPLETE_CRAWL, { id, at });
    await endDeletionNames(tx, { id, at });
  });
}

const DROP_LEAD = `
  DELETE FROM directory_lead
  WHERE repository_id = @id AND number = @number AND NOT ${IS_FROZEN}`;

const DROP_KEYS = `
  DELETE FROM directory_key WHERE repository_id = @id AND number = @number`;

/** Drops the row, unless the lead is claimed, be it since a moment ago. @throws {store-unavailable} */
export function removeEntry(store: DirectoryStore, number: number): Promise<void> {
  return inRepository(store, async (tx, id) => {
    if ((await tx.run(DROP_LEAD, { id, number })) > 0) await tx.run(DROP_KEYS, { id, number });
    await hideLeads(tx, { id, numbers: [number], at: store.clock.now() });
  });
}

const NOTE_MOVED = `
  UPDATE directory_lead SET is_moved = true WHERE repository_id = @id AND number = @number`;

/** The issue is in another repository: its row stays, whatever crawls do not meet. @throws {store-unavailable} */
export function noteMoved(store: DirectoryStore, number: number): Promise<void> {
  return inRepository(store, async (tx, id) => {
    await tx.run(NOTE_MOVED, { id, number });
    await hideLeads(tx, { id, numbers: [number], at: store.clock.now() });
  });
}

/** A repository that is not known yet is passed over. */
function inRepository(
  { db, repository }: DirectoryStore,
  work: (tx: Tx, id: number) => Promise<unknown>,
): Promise<void> {
  return db.exclusive(async (tx) => {
    const id = await readRepositoryId(tx, repository);
    if (id !== undefined) await work(tx, id);
  });
}

type Page = {
  store: DirectoryStore;
  entries: readonly DirectoryEntry[];
  /** Nothing says that these leads changed just now. */
  mayBeOld?: true;
};

/** Writes a page of entries in a few statements, whatever its length. */
async function putPage(
  tx: Tx,
  id: number,
  { store: { repository, clock, claimLearnt }, entries, mayBeOld }: Page,
): Promise<void> {
  const seen = new Map<number, Seen>();
  const firstMet = mayBeOld ? await findUnknown(tx, id, entries) : undefined;
  for (const part of distinct(entries)) {
    const put = await putLeads(tx, id, part);
    await putKeys(tx, id, part);
    for (const entry of part) {
      const { number, leadDigest } = entry;
      const before = seen.get(number);
      const labels = [...(before?.seen ?? []), ...carriedOf(entry)];
      seen.set(number, {
        leadDigest: put.has(number) ? leadDigest : before?.leadDigest,
        seen: labels,
      });
    }
  }
  const numbers = [...seen.keys()];
  const now = clock.now();
  await claimLearnt(tx, { id, name: repository }, { numbers }, now); // before anybody is told of them
  await noteLeads(tx, { id, numbers, at: now }, { firstMet, seen });
}

const KNOWN = `
  SELECT number FROM directory_lead WHERE repository_id = @id AND number = ANY(@numbers::bigint[])`;

async function findUnknown(
  tx: Tx,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<ReadonlySet<number>> {
  const numbers = numbersOf(entries);
  const known = new Set(numbersOf(await tx.all(KNOWN, { id, numbers })));
  return new Set(numbers.filter((number) => !known.has(number)));
}

/** One statement can change a row once: an issue that comes twice is in two parts, in their order. */
function distinct(entries: readonly DirectoryEntry[]): DirectoryEntry[][] {
  const parts: { entries: DirectoryEntry[]; numbers: Set<number> }[] = [];
  for (const entry of entries) {
    const last = parts.at(-1);
    if (last && !last.numbers.has(entry.number)) {
      last.entries.push(entry);
      last.numbers.add(entry.number);
    } else parts.push({ entries: [entry], numbers: new Set([entry.number]) });
  }
  return parts.map((part) => part.entries);
}

/**
 * Rows of a page, each number once. Those that are claimed, or newer than what is told, stay as they
 * are; returns the numbers of the others. The column `approved` holds `isReadable`: approved, and not deleted.
 */
const PUT_LEADS = `
  INSERT INTO directory_lead
    (repository_id, number, created_at, updated_at, approved, labels, crawl)
  SELECT state.repository_id, given.number, given.created_at, given.updated_at, given.is_readable,
    given.labels, state.crawl
  FROM directory_state AS state CROSS JOIN jsonb_to_recordset(@entries) AS given
    (number bigint, created_at bigint, updated_at bigint, is_readable boolean, labels jsonb)
  WHERE state.repository_id = @id
  ORDER BY given.number
  ON CONFLICT (repository_id, number) DO UPDATE SET created_at = excluded.created_at,
    updated_at = excluded.updated_at, approved = excluded.approved, labels = excluded.labels,
    crawl = excluded.crawl, is_moved = false
  WHERE excluded.updated_at >= directory_lead.updated_at AND NOT ${IS_FROZEN}
  RETURNING number`;

const MARK_SEEN = `
  UPDATE directory_lead
  SET crawl = (SELECT crawl FROM directory_state WHERE repository_id = @id),
    updated_at = greatest(updated_at, @updatedAt)
  WHERE repository_id = @id AND number = @number`;

async function putLeads(
  tx: Tx,
  id: number,
  entries: readonly DirectoryEntry[],
): Promise<ReadonlySet<number>> {
  const values = { id, entries: toRecords(entries.map(withoutIdentities)) };
  const put = new Set(numbersOf(await tx.all(PUT_LEADS, values)));
  const left = entries.filter(({ number }) => !put.has(number));
  await Promise.all(
    left.map(({ number, updatedAt }) => tx.run(MARK_SEEN, { id, number, updatedAt })),
  );
  return put;
}

function withoutIdentities({
  identities: _identities,
  leadDigest: _leadDigest,
  ...entry
}: DirectoryEntry): object {
  return entry;
}

const PUT_KEYS = `
  INSERT INTO directory_key (key_hash, repository_id, number, kind, rule)
  SELECT hash, @id::bigint, number, min(kind), ${READING_VERSION}
  FROM jsonb_to_recordset(@keys) AS given (hash bytea, number bigint, kind text)
  WHERE EXISTS (SELECT 1 FROM directory_state WHERE repository_id = @id)
  GROUP BY hash, number
  ON CONFLICT (key_hash, repository_id, number) DO UPDATE SET kind = excluded.kind, rule = excluded.rule
  WHERE directory_key.rule <> excluded.rule`;

async function putKeys(tx: Tx, id: number, entries: readonly DirectoryEntry[]): Promise<void> {
  const keys = entries.flatMap(({ number, identities }) =>
    identities.map((identity) => ({ ...identity, number })),
  );
  if (keys.length > 0) await tx.run(PUT_KEYS, { id, keys: toRecords(keys) });
}
