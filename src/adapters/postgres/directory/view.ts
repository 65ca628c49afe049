import type { IdentityKind } from '#leads/directory/lead-directory.ts';
import type { DirectoryView, MatchName } from '#partners/deletions/match/match.ts';
import type { Session } from '../connection/database.ts';

/** The number of the repository that `@name` means. */
export const NAMED = '(SELECT repository_id FROM tracker_repository WHERE name = @name)';

const KNOWN = `
  SELECT number, created_at FROM directory_lead
  WHERE repository_id = ${NAMED} AND number = ANY(@wanted::bigint[])`;

/** Each hash with itself and all that were merged into it, on whatever way; for `WITH RECURSIVE`. */
export const MERGED_INTO = (hashes: string): string => `
  known (wanted, hash) AS (
    ${hashes} UNION
    SELECT known.wanted, from_hash FROM known JOIN directory_merge ON to_hash = known.hash)`;

/** OFFSET 0: each is looked up in the index, however many the planner expects. */
const FOUND = `
  WITH RECURSIVE ${MERGED_INTO('SELECT hash, hash FROM unnest(@wanted::bytea[]) AS given (hash)')}
  SELECT DISTINCT known.wanted AS key_hash, number
  FROM known CROSS JOIN LATERAL (
    SELECT number FROM directory_key
    WHERE directory_key.key_hash = known.hash AND repository_id = ${NAMED} OFFSET 0) AS found
  ORDER BY number`;

const IDENTITIES = `
  WITH RECURSIVE known (number, kind, key_hash) AS (
    SELECT number, kind, key_hash FROM directory_key
    WHERE repository_id = ${NAMED} AND number = ANY(@wanted::bigint[])
    UNION
    SELECT number, kind, to_hash FROM known JOIN directory_merge ON from_hash = known.key_hash)
  SELECT number, kind, key_hash FROM known`;

type LeadRow = { number: number; createdAt: number };
type KeyRow = { number: number; keyHash: Buffer; kind: IdentityKind | null };

/**
 * What the lead directory of the repository that `repository` (`owner/name`, in any case) names knows
 * of these names, read at once so that the rule of matching can ask for it without waiting.
 */
export async function readDirectoryView(
  session: Session,
  repository: string,
  names: readonly MatchName[],
): Promise<DirectoryView> {
  if (names.length === 0) return emptyView;
  const name = repository.toLowerCase();
  const ids = names.flatMap((one) => (one.kind === 'lead-id' ? [one.number] : []));
  const hashes = names.flatMap((one) => (one.kind === 'lead-id' ? [] : [one.hash]));
  // What is not named at all is not worth a way to the server: everybody waits for it at the lock.
  const rowsOf = async <Row>(sql: string, wanted: readonly (number | Buffer)[]): Promise<Row[]> =>
    wanted.length > 0 ? session.all<Row>(sql, { name, wanted }) : [];
  const [known, found] = await Promise.all([
    rowsOf<LeadRow>(KNOWN, ids),
    rowsOf<Omit<KeyRow, 'kind'>>(FOUND, hashes),
  ]);
  const numbers = [...new Set([...known, ...found].map(({ number }) => number))];
  const identities = await rowsOf<KeyRow>(IDENTITIES, numbers);
  const createdAts = new Map(known.map(({ number, createdAt }) => [number, createdAt]));
  const byHash = Map.groupBy(found, ({ keyHash }) => keyHash.toString('hex'));
  const byNumber = Map.groupBy(identities, ({ number }) => number);
  return {
    has: (number) => createdAts.has(number),
    createdAt: (number) => createdAts.get(number),
    find: (hash) => (byHash.get(hash.toString('hex')) ?? []).map(({ number }) => number),
    identitiesOf: (number) =>
      (byNumber.get(number) ?? []).map(({ kind, keyHash }) => ({ kind, hash: keyHash })),
  };
}

const emptyView: DirectoryView = {
  has: () => false,
  createdAt: () => undefined,
  find: () => [],
  identitiesOf: () => [],
};
