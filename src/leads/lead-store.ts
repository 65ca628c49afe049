import type { Clock } from '#shared/clock.ts';
import type { Database, Statements, Tx } from '#shared/database.ts';

/** The tracker's repository as the store names it: `owner/name` in lower case. `createStore` makes it, once. */
export type StoredRepositoryName = string;

/** The repository that the configured name means. */
export type KnownRepository = { id: number; name: StoredRepositoryName };

/** News of the directory: leads with these numbers, or people who are known by these hashes from now on. */
type Learnt = { numbers: readonly number[] } | { hashes: readonly Buffer[] };

/** Claims, for the deletions that stand, what they name by what was just learnt. */
export type ClaimLearnt = (
  tx: Tx,
  repository: KnownRepository,
  learnt: Learnt,
  now: number,
) => Promise<void>;

/** The store, with what all statements about leads have in common. */
export type LeadStore = {
  db: Database;
  repository: StoredRepositoryName;
  clock: Pick<Clock, 'now'>;
};

/** The store of what fills the lead directory. */
export type DirectoryStore = LeadStore & { claimLearnt: ClaimLearnt };

/** The number of the repository that `@name` means. */
export const NAMED =
  '(SELECT repository_id FROM tracker_repository WHERE name = /*sqlite +*/@name)';

const READ_REPOSITORY_ID = 'SELECT repository_id FROM tracker_repository WHERE name = @name';

/** As the tracker named it last. */
export async function readRepositoryId(
  db: Statements,
  name: StoredRepositoryName,
): Promise<number | undefined> {
  return (await db.get<{ repositoryId: number }>(READ_REPOSITORY_ID, { name }))?.repositoryId;
}

/**
 * True when the lead in a row of this table is claimed. Counted, so that it is looked for by its number:
 * an EXISTS may become a join that reads all claims.
 */
export const IS_CLAIMED = (table: string): string => `
  (SELECT count(*) > count(released_at) FROM claim
    WHERE claim.repository_id = ${table}.repository_id AND claim.number = ${table}.number)`;

export function numbersOf(rows: readonly { number: number }[]): number[] {
  return rows.map(({ number }) => number);
}
