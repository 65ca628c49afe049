import type { Claims, ClaimStore } from '#leads/claims/claim-store.ts';
import { createNextTurnFlight } from '#shared/resilience/single-flight.ts';
import { createClaimLists, OF_REPOSITORY } from './lists.ts';
import { claimWrites } from './writes.ts';
import { bindWrites, either, type Session, type StoreDatabase } from '../session.ts';

export type ClaimsOptions = {
  /** `owner/name`, in any case. */
  repository: string;
};

/** The claims, whatever the engine. Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimStore(database: StoreDatabase, options: ClaimsOptions): ClaimStore {
  const repository = options.repository.toLowerCase();
  const { release } = bindWrites(database.writer.callInTurn, 'claim', claimWrites);
  return {
    current: createNextTurnFlight(createClaimReader(database, repository)),
    ...createClaimLists(database, repository),
    release: (number, entry) => release(repository, number, entry),
  };
}

type VersionRow = {
  version: number;
  withdrawn: number;
  repositoryId?: number;
  origin: string;
};

/**
 * Another text as soon as what is connected to may hold less than what was read before: a standby that
 * lagged and was promoted, a backup of an earlier time put in its place. Versions count on from less
 * there, and come to the same numbers for other data. A restarted server gives another text as well.
 * A file cannot be replaced while it is open.
 */
export const SERVER_IDENTITY = either(
  `(SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, 'claim_version'::regclass::oid)
    FROM pg_database WHERE datname = current_database())`,
  "''",
);

const VERSION = `
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
function createClaimReader(session: Session, repository: string): () => Promise<Claims> {
  let row: VersionRow | undefined;
  let lastId = 0;
  let numbers = new Set<number>();
  let claims: Claims = { has: () => true };
  const readNew = async (): Promise<void> => {
    const values = { repository, after: lastId };
    for (const { id, number } of await session.all<{ id: number; number: number }>(
      CLAIMED,
      values,
    )) {
      numbers.add(number);
      lastId = id;
    }
    const known = numbers;
    claims = { has: (number) => known.has(number) };
  };
  return async () => {
    const now = await session.get<VersionRow>(VERSION, { repository });
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

/** Whether `now` has every claim that was there before, and new ones at most. */
function isContinued(before: VersionRow, now: VersionRow): boolean {
  return (
    before.withdrawn === now.withdrawn &&
    before.repositoryId === now.repositoryId &&
    before.origin === now.origin
  );
}
