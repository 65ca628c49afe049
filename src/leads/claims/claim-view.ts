import type { Database } from '#shared/database.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { SERVER_IDENTITY } from '#shared/sql.ts';
import type { LeadStore, StoredRepositoryName } from '../lead-store.ts';

/**
 * The leads that deletions have claimed at one moment; those that are claimed later may count as well. Claimed leads do
 * not exist for readers.
 */
export type Claims = { has(number: number): boolean };

/** The claims in the store, as of the call. Read for every response, so it is cheap. */
export type ClaimView = {
  /** Another object whenever the claimed leads may be others, else the same. @throws {store-unavailable} */
  current(): Promise<Claims>;
};

/** Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimView({ db, repository }: LeadStore): ClaimView {
  return { current: createNextTurnFlight(createClaimReader(db, repository)) };
}

/**
 * Claims of the repository that `repository` names. While the store does not know its number yet,
 * every claim counts, whatever repository it is from: a renamed repository must not show for a
 * moment what was deleted.
 */
export const OF_REPOSITORY = `
  (claim.repository_id = (SELECT repository_id FROM tracker_repository WHERE name = @repository)
    OR NOT EXISTS (SELECT 1 FROM tracker_repository WHERE name = @repository))`;

type VersionRow = {
  version: number;
  withdrawn: number;
  repositoryId?: number;
  origin: string;
};

/** Triggers move the versions with every claim: see `claim_version` in `migrations`. */
const CLAIM_VERSION = `
  SELECT version, withdrawn, ${SERVER_IDENTITY} AS origin,
    (SELECT repository_id FROM tracker_repository WHERE name = @repository) AS repository_id
  FROM claim_version`;

/** Claims get their ids in the order in which they are committed, for their writers take turns. */
const CLAIMED = `
  SELECT id, number FROM claim
  WHERE id > @after AND released_at IS NULL AND ${OF_REPOSITORY}
  ORDER BY id`;

/**
 * Called for every response with leads, on every instance: reads one row when no claim was made, else the
 * new claims, and all of them after a release or a failover. One call at a time.
 */
function createClaimReader(db: Database, repository: StoredRepositoryName): () => Promise<Claims> {
  let row: VersionRow | undefined;
  let lastId = 0;
  let numbers = new Set<number>();
  let claims: Claims = { has: () => true }; // until they were read, no lead is shown
  const readNew = async (): Promise<void> => {
    const values = { repository, after: lastId };
    for (const { id, number } of await db.all<{ id: number; number: number }>(CLAIMED, values)) {
      numbers.add(number);
      lastId = id;
    }
    const known = numbers;
    claims = { has: (number) => known.has(number) };
  };
  return async () => {
    const now = await db.get<VersionRow>(CLAIM_VERSION, { repository });
    if (!now) throw new Error('the store has no claim version');
    const goesOn = row !== undefined && isContinued(row, now);
    if (goesOn && row?.version === now.version) return claims;
    if (!goesOn) {
      numbers = new Set();
      lastId = 0;
      row = undefined; // should the next statement fail, all of it is read again
    }
    await readNew();
    row = now;
    return claims;
  };
}

/** True when `now` has every claim that was there before, and new ones at most. */
function isContinued(before: VersionRow, now: VersionRow): boolean {
  return (
    before.withdrawn === now.withdrawn &&
    before.repositoryId === now.repositoryId &&
    before.origin === now.origin
  );
}
