import type { Clock } from '#shared/clock.ts';
import type { Database, Tx } from '#shared/database.ts';

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
