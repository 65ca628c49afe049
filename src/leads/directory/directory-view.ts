import type { IdentityKind } from './lead-directory.ts';
import { READING_VERSION } from '../model/identity.ts';
import type { DirectoryView, MatchName } from './match.ts';
import type { Tx } from '#shared/database.ts';
import { either, toRecords } from '#shared/sql.ts';

/** The number of the repository that `@name` means. */
export const NAMED =
  '(SELECT repository_id FROM tracker_repository WHERE name = /*sqlite +*/@name)';

const READ_REPOSITORY_ID = 'SELECT repository_id FROM tracker_repository WHERE name = @name';

/** As the tracker named it last. `name` is `owner/name` in lower case. */
export async function readRepositoryId(session: Tx, name: string): Promise<number | undefined> {
  return (await session.get<{ repositoryId: number }>(READ_REPOSITORY_ID, { name }))?.repositoryId;
}

/** Whether the lead in a row of this table is claimed. Counted, so that no engine takes `claim_removal` for it. */
export const IS_CLAIMED = (table: string): string => `
  (SELECT count(*) > count(released_at) FROM claim
    WHERE claim.repository_id = ${table}.repository_id AND claim.number = ${table}.number)`;

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
 * What the lead directory of the repository that `name` (`owner/name` in lower case) means knows of these
 * names, read at once so that the rule of matching can ask for it without waiting.
 */
export async function readDirectoryView(
  session: Tx,
  name: string,
  names: readonly MatchName[],
): Promise<DirectoryView> {
  if (names.length === 0) return emptyView;
  const ids = names.flatMap((one) => (one.kind === 'lead-id' ? [one.number] : []));
  const hashes = names.flatMap((one) => (one.kind === 'lead-id' ? [] : [{ hash: one.hash }]));
  // Without a question no way to the server: whoever accepts holds the lock, and all others wait for it.
  const byNumbers = async <Row>(sql: string, numbers: readonly number[]): Promise<Row[]> =>
    numbers.length > 0 ? session.all<Row>(sql, { name, numbers }) : [];
  const found =
    hashes.length > 0
      ? await session.all<Omit<KeyRow, 'kind'>>(FOUND, { name, hashes: toRecords(hashes) })
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
