import { claimedBy, fromLeadIds, REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import { numbersOf, readRepositoryId, type StoredRepositoryName } from '#leads/lead-store.ts';
import type { Database } from '#shared/database.ts';
import { isDeletion } from '../receipts/receipt.ts';
import { IS_MINE, leaseOf } from './lease-events.ts';
import type { WorkItem } from './work-item.ts';

const CLAIMED = `
  SELECT DISTINCT number FROM claim
  WHERE repository_id = @repositoryId AND number = ANY(@numbers::bigint[]) AND released_at IS NULL`;

const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

const FOUND_LEADS = 'SELECT lead_ids FROM event WHERE id = @event';

const LEADS_ELSEWHERE = `
  SELECT 1 FROM claim WHERE event = @event AND released_at IS NULL
    AND repository_id <> ${REPOSITORY_NOT_KNOWN} AND repository_id
    IS DISTINCT FROM (SELECT repository_id FROM tracker_repository WHERE name = @name) LIMIT 1`;

/** The store, and the repository whose leads are looked for. */
export type Repository = { db: Database; repository: StoredRepositoryName };

/**
 * The leads that a deletion still holds: an operator may have given some back. Those of an event that a rule is for
 * are the ones that were found. @throws {store-unavailable}
 */
export function leadsOf(
  { db, repository }: Repository,
  item: WorkItem,
): Promise<readonly number[]> {
  const { event } = item;
  return isDeletion(item) ? claimedLeads(db, repository, event) : foundLeads(db, event);
}

/**
 * `leadsOf` without those of an event that a deletion has claimed; undefined when the lease was lost.
 * @throws {store-unavailable}
 */
export async function leadsUnderLease(
  { db, repository }: Repository,
  item: WorkItem,
): Promise<readonly number[] | undefined> {
  if (!(await db.get(FIND_MINE, leaseOf(item)))) return undefined;
  if (isDeletion(item)) return claimedLeads(db, repository, item.event);
  const repositoryId = await readRepositoryId(db, repository);
  if (repositoryId === undefined || isElsewhere(item, repositoryId)) return [];
  const numbers = await foundLeads(db, item.event);
  const claimed = numbersOf(await db.all(CLAIMED, { repositoryId, numbers }));
  return numbers.filter((number) => !claimed.includes(number));
}

/** True when the event holds leads of a repository that the configured name does not mean any more. @throws {store-unavailable} */
export async function hasLeadsElsewhere(
  { db, repository }: Repository,
  item: WorkItem,
): Promise<boolean> {
  if (isElsewhere(item, await readRepositoryId(db, repository))) return true;
  const values = { event: item.event, name: repository };
  return (await db.get(LEADS_ELSEWHERE, values)) !== undefined;
}

/** Its leads have numbers of another repository than the configured one. */
function isElsewhere({ progress }: WorkItem, repositoryId: number | undefined): boolean {
  const own = progress?.stage === 'act' ? progress.effect?.repositoryId : undefined;
  return own !== undefined && own !== repositoryId;
}

async function foundLeads(db: Database, event: number): Promise<number[]> {
  const row = await db.get<{ leadIds?: string }>(FOUND_LEADS, { event });
  return fromLeadIds(row?.leadIds);
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
async function claimedLeads(
  db: Database,
  repository: StoredRepositoryName,
  event: number,
): Promise<number[]> {
  const repositoryId = await readRepositoryId(db, repository);
  return repositoryId === undefined ? [] : claimedBy(db, { repositoryId, event });
}
