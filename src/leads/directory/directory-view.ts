import type { Statements } from '#shared/database.ts';
import { either, toRecords } from '#shared/sql.ts';
import {
  IS_CLAIMED,
  type LeadStore,
  NAMED,
  readRepositoryId,
  type StoredRepositoryName,
} from '../lead-store.ts';
import { READING_VERSION } from '../model/identity.ts';
import type { DirectoryState, IdentityKind } from './lead-directory.ts';
import type { DirectoryView, MatchName } from './match.ts';

/** A claimed lead's row is frozen: a later event must find the person behind a redacted issue. */
export const IS_FROZEN = IS_CLAIMED('directory_lead');

const LEADS = `
  SELECT number, updated_at FROM directory_lead
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

const STATE = `
  SELECT crawl, crawling AS is_crawling, crawl_started_at AS started_at, crawl_issues AS issues,
    crawl_reached AS reached, completed_at, caught_up_to
  FROM directory_state WHERE repository_id = ${NAMED}`;

const CHUNK_END = `
  SELECT max(number) AS last FROM (SELECT number FROM directory_lead
    WHERE repository_id = @id AND number > @after ORDER BY number LIMIT @size) AS chunk
  HAVING max(number) IS NOT NULL`;

const UNSEEN = `
  SELECT number FROM directory_lead
  WHERE repository_id = @id AND number > @after AND number <= @last AND NOT is_moved
    AND crawl < (SELECT crawl FROM directory_state WHERE repository_id = @id)
    AND NOT ${IS_FROZEN}
  ORDER BY number`;

/** Rows of a finished crawl that are looked at at once. */
const CHUNK_ROWS = 5000;

/** Undefined before the directory was opened. @throws {store-unavailable} */
export function readDirectoryState({ db, repository }: LeadStore) {
  return db.get<DirectoryState>(STATE, { name: repository });
}

/**
 * Time of the last change, as the tracker showed it last, in ms; undefined: no such row.
 * @throws {store-unavailable}
 */
export async function readUpdatedAt(store: LeadStore, number: number): Promise<number | undefined> {
  return (await readUpdatedAts(store, [number])).get(number);
}

/** The same of many issues; those without a row are absent. @throws {store-unavailable} */
export async function readUpdatedAts(
  { db, repository: name }: LeadStore,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db.all<{ number: number; updatedAt: number }>(LEADS, { name, numbers });
  return new Map(rows.map(({ number, updatedAt }) => [number, updatedAt]));
}

/**
 * One chunk of the rows behind `after` that the running crawl has not met, claimed and moved leads left out; `next` is
 * where the following chunk starts. A million rows must not be held at once, nor hold up readers.
 * @throws {store-unavailable}
 */
export async function readUnseen(
  { db, repository }: LeadStore,
  after: number,
): Promise<{ numbers: number[]; next?: number }> {
  const id = await readRepositoryId(db, repository);
  const chunk =
    id === undefined
      ? undefined
      : await db.get<{ last: number }>(CHUNK_END, { id, after, size: CHUNK_ROWS });
  if (!chunk) return { numbers: [] };
  const { last } = chunk;
  const rows = await db.all<{ number: number }>(UNSEEN, { id, after, last });
  return { numbers: rows.map(({ number }) => number), next: last };
}

const KNOWN = `
  SELECT number, created_at FROM directory_lead
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

/** Each hash with itself and all that were merged into it, in one step or several; for `WITH RECURSIVE`. */
const MERGED_INTO = (hashes: string): string => `
  known (wanted, hash) AS (
    ${hashes} UNION
    SELECT known.wanted, from_hash FROM known JOIN directory_merge ON to_hash = known.hash)`;

/** Each is looked up in the index, however many the planner expects. */
const BY_HASH = either(
  `CROSS JOIN LATERAL (SELECT number, repository_id FROM directory_key
     WHERE directory_key.key_hash = known.hash OFFSET 0) AS found WHERE`,
  'CROSS JOIN directory_key ON key_hash = known.hash AND',
);

const FOUND = `
  WITH RECURSIVE ${MERGED_INTO('SELECT hash, hash FROM jsonb_to_recordset(@hashes) AS given (hash bytea)')}
  SELECT DISTINCT known.wanted AS key_hash, number
  FROM known ${BY_HASH} repository_id = ${NAMED}
  ORDER BY number`;

const IDENTITIES = `
  WITH RECURSIVE known (number, kind, key_hash) AS (
    SELECT number, CASE rule WHEN ${READING_VERSION} THEN kind END, key_hash FROM directory_key
    WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])
    UNION
    SELECT number, kind, to_hash FROM known JOIN directory_merge ON from_hash = known.key_hash)
  SELECT number, kind, key_hash FROM known`;

type LeadRow = { number: number; createdAt: number };
type KeyRow = { number: number; keyHash: Buffer; kind?: IdentityKind };

/**
 * Reads all that the lead directory of the repository `name` knows of these names, at once, so that the rule of
 * matching can ask for it without waiting.
 */
export async function readDirectoryView(
  db: Statements,
  name: StoredRepositoryName,
  names: readonly MatchName[],
): Promise<DirectoryView> {
  if (names.length === 0) return emptyView;
  const ids = names.flatMap((one) => (one.kind === 'lead-id' ? [one.number] : []));
  const hashes = names.flatMap((one) => (one.kind === 'lead-id' ? [] : [{ hash: one.hash }]));
  // Without a question no way to the server: whoever accepts holds the lock, and all others wait for it.
  const byNumbers = async <Row>(sql: string, numbers: readonly number[]): Promise<Row[]> =>
    numbers.length > 0 ? db.all<Row>(sql, { name, numbers }) : [];
  const found =
    hashes.length > 0
      ? await db.all<Omit<KeyRow, 'kind'>>(FOUND, { name, hashes: toRecords(hashes) })
      : [];
  const numbers = [...new Set([...ids, ...found.map(({ number }) => number)])];
  const [known, identities] = await Promise.all([
    byNumbers<LeadRow>(KNOWN, numbers),
    byNumbers<KeyRow>(IDENTITIES, numbers),
  ]);
  const createdAts = new Map(known.map(({ number, createdAt }) => [number, createdAt]));
  const byHash = Map.groupBy(found, ({ keyHash }) => keyHash.toString('hex'));
  const byNumber = Map.groupBy(identities, ({ number }) => number);
  return {
    has: (number) => createdAts.has(number),
    createdAt: (number) => createdAts.get(number),
    find: (hash) => (byHash.get(hash.toString('hex')) ?? []).map(({ number }) => number),
    identitiesOf: (number) =>
      (byNumber.get(number) ?? []).map(({ kind = null, keyHash }) => ({ kind, hash: keyHash })),
  };
}

const emptyView: DirectoryView = {
  has: () => false,
  createdAt: () => undefined,
  find: () => [],
  identitiesOf: () => [],
};
