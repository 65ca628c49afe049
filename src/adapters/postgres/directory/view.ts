import type { IdentityKind } from '#leads/directory/lead-directory.ts';
import type { DirectoryView, MatchName } from '#partners/deletions/match.ts';
import type { Session } from '../database.ts';

/** The number of the repository that `@name` means. */
export const NAMED = '(SELECT repository_id FROM tracker_repository WHERE name = @name)';

const KNOWN = `
  SELECT number, created_at FROM directory_lead
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

const FOUND = `
  SELECT key_hash, number FROM directory_key
  WHERE key_hash = ANY(@hashes::bytea[]) AND repository_id = ${NAMED}
  ORDER BY number`;

const IDENTITIES = `
  SELECT number, kind, key_hash FROM directory_key
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[])`;

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
  const known = await session.all<LeadRow>(KNOWN, { name, numbers: ids });
  const found = await session.all<Omit<KeyRow, 'kind'>>(FOUND, { name, hashes });
  const numbers = [...new Set([...known, ...found].map(({ number }) => number))];
  const identities = await session.all<KeyRow>(IDENTITIES, { name, numbers });
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
