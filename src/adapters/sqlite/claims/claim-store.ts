import type { ClaimStore, Removal, RemovalQuery } from '#leads/claims/claim-store.ts';
import type { Claims } from '#leads/claims/claim-store.ts';
import { createClaimLists, OF_REPOSITORY } from './lists.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';
import { claimWrites } from './write-family.ts';

export type ClaimsOptions = {
  /** `owner/name`, in any case. */
  repository: string;
};

/** The claims in SQLite. Keeps the claimed numbers in memory and reads only what changed. */
export function createClaimStore(database: Database, options: ClaimsOptions): ClaimStore {
  const repository = options.repository.toLowerCase();
  const view = createView(database, repository);
  const removals = prepareRemovals(database);
  const lists = createClaimLists(database, repository);
  const write = database.writer.open(claimWrites, { repository });
  return {
    current: createCurrent(database, view),
    list: async (page) => guard(() => lists.list(page)),
    find: async (number) => guard(() => lists.find(number)),
    release: (number, entry) => write('release', number, entry),
    listRemovals: async (query) => guard(() => removals.all(toParameters(query, repository))),
  };
}

/** All readers of a turn of the event loop share one promise, as they share one look at the version. */
function createCurrent(
  { version }: Pick<Database, 'version'>,
  view: (storeVersion: number) => Claims,
): ClaimStore['current'] {
  let looked: Promise<number> | undefined;
  let claims: Promise<Claims> | undefined;
  return () => {
    const look = version();
    if (look !== looked || !claims) {
      looked = look;
      claims = look.then(view);
    }
    return claims;
  };
}

function prepareRemovals({ handle }: Database) {
  return guard(() =>
    // Several claims of one lead share its removedAt, so that DISTINCT leaves one line.
    handle.prepare<[ReturnType<typeof toParameters>], Removal>(`
      SELECT DISTINCT removedAt, number
      FROM claim JOIN directory_approval AS approval USING (repositoryId, number)
      WHERE releasedAt IS NULL AND removedAt >= @since
        AND (removedAt, number) > (@afterRemovedAt, @afterNumber) AND ${OF_REPOSITORY}
        AND NOT EXISTS (
          SELECT 1 FROM json_each(@labels) AS wanted
          WHERE wanted.value NOT IN (SELECT value FROM json_each(approval.labels)))
      ORDER BY removedAt, number LIMIT @limit`),
  );
}

function toParameters(query: RemovalQuery, repository: string) {
  return {
    repository,
    since: query.since,
    afterRemovedAt: query.after?.removedAt ?? -1,
    afterNumber: query.after?.number ?? -1,
    labels: JSON.stringify(query.labels),
    limit: query.limit,
  };
}

type VersionRow = { version: number; withdrawn: number; repositoryId: number | null };

/**
 * Called for every response with leads: reads nothing when nothing was written, one row when something
 * else was, and only new claims when a claim was made. All claims are read again after a release.
 */
function createView(database: Database, repository: string): (storeVersion: number) => Claims {
  const read = prepareView(database);
  let storeVersion: number | undefined;
  let row: VersionRow | undefined;
  let lastId = 0;
  let numbers = new Set<number>();
  let claims: Claims = { has: () => true };
  return (nowStoreVersion) => {
    if (nowStoreVersion === storeVersion) return claims;
    guard(() => {
      const now = read.version.get({ repository });
      if (!now) throw new Error('the store has no claim version');
      if (!row || row.withdrawn !== now.withdrawn || row.repositoryId !== now.repositoryId) {
        numbers = new Set();
        lastId = 0;
      }
      if (row?.version !== now.version || row.repositoryId !== now.repositoryId) {
        for (const { id, number } of read.claimed.all({ repository, after: lastId })) {
          numbers.add(number);
          lastId = id;
        }
        const held = numbers;
        claims = { has: (number) => held.has(number) };
      }
      row = now;
    });
    storeVersion = nowStoreVersion;
    return claims;
  };
}

function prepareView({ handle }: Database) {
  return guard(() => ({
    version: handle.prepare<[{ repository: string }], VersionRow>(`
      SELECT version, withdrawn,
        (SELECT repositoryId FROM tracker_repository WHERE name = @repository) AS repositoryId
      FROM claim_version`),
    claimed: handle.prepare<
      [{ repository: string; after: number }],
      { id: number; number: number }
    >(`
      SELECT id, number FROM claim
      WHERE id > @after AND releasedAt IS NULL AND ${OF_REPOSITORY}
      ORDER BY id`),
  }));
}
