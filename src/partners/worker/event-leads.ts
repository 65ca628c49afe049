import {
  claimedBy,
  fromLeadIds,
  numbersOf,
  REPOSITORY_NOT_KNOWN,
} from '#leads/claims/claim-leads.ts';
import { readDirectoryView, readRepositoryId } from '#leads/directory/directory-view.ts';
import { type AskedAt, type Match, matchLeads, type MatchName } from '#leads/directory/match.ts';
import { MINUTE } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { EVENTS_OF_LEAD } from '../receipts/receipt-conditions.ts';
import { DUE_AND_FREE, IS_MINE, leaseOf, RANKS } from './lease-events.ts';
import type { WorkItem } from './work-item.ts';

/** How long what has not been matched may hold up others: by then it has, or the tracker fails. */
const UNMATCHED_WAIT_MAX_MS = MINUTE;

/**
 * What goes before the event at this lead, each by one of the three:
 *
 * - an earlier event that has the lead; not one without a partner, which may wait for good;
 * - an earlier event that nobody has matched yet, and so may have it;
 * - a deletion, earlier or later, that has claimed the lead until its match is certain.
 */
const BLOCKED_UNTIL = `
  SELECT due_at FROM (
    SELECT event.due_at FROM ${EVENTS_OF_LEAD}
    WHERE event_lead.number = @leadId AND event.outcome = 'PENDING' AND event.id < @event
      AND event.last_error IS DISTINCT FROM 'partner-unknown'
    UNION ALL
    SELECT due_at FROM event
    WHERE stage = 'match' AND outcome = 'PENDING' AND due_at > @now::bigint - ${UNMATCHED_WAIT_MAX_MS}
      AND asked_at > @now::bigint - ${UNMATCHED_WAIT_MAX_MS} AND attempts = 0 AND last_error IS NULL AND id < @event
    UNION ALL
    SELECT event.due_at FROM claim JOIN event ON event.id = claim.event
    WHERE claim.repository_id = @repositoryId AND claim.number = @leadId AND claim.released_at IS NULL
      AND claim.is_provisional AND event.outcome = 'PENDING'
  ) AS earlier ORDER BY due_at LIMIT 1`;

const CLAIMED = `
  SELECT DISTINCT number FROM claim
  WHERE repository_id = @repositoryId AND number = ANY(@numbers::bigint[]) AND released_at IS NULL`;

const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

const FOUND_LEADS = 'SELECT lead_ids FROM event WHERE id = @event';

const LEADS_ELSEWHERE = `
  SELECT 1 FROM claim WHERE event = @event AND released_at IS NULL
    AND repository_id <> ${REPOSITORY_NOT_KNOWN} AND repository_id
    IS DISTINCT FROM (SELECT repository_id FROM tracker_repository WHERE name = @name) LIMIT 1`;

/** Whether another event would have the turn of the one that is worked on; not one that was refused, and may be again. */
const OVERTAKEN = `
  SELECT 1 FROM event WHERE stage = 'act' AND rank IN (${RANKS.join(', ')}) AND ${DUE_AND_FREE}
    AND last_error IS DISTINCT FROM 'forbidden'
    AND rank < (SELECT rank FROM event WHERE id = @event) LIMIT 1`;

/** The store, and the repository whose leads are looked for: `owner/name` in lower case. */
type Repository = { db: Database; repository: string };

/**
 * `matchLeads` over the lead directory as it is now. `unknownLeadId`: the number that is among the names and that the
 * directory does not know. @throws {store-unavailable}
 */
export async function findMatch(
  { db, repository }: Repository,
  names: readonly MatchName[],
  askedAt: AskedAt,
): Promise<Match & { unknownLeadId?: number }> {
  const directory = await readDirectoryView(db, repository, names);
  const leadId = names.find((name) => name.kind === 'lead-id');
  const isUnknown = leadId && !directory.has(leadId.number);
  return {
    ...matchLeads(names, directory, askedAt),
    ...(isUnknown && { unknownLeadId: leadId.number }),
  };
}

/**
 * The leads that a deletion still holds: an operator may have given some back. Those of an event that a rule is for
 * are the ones that were found. @throws {store-unavailable}
 */
export function leadsOf(
  { db, repository }: Repository,
  { event, path }: WorkItem,
): Promise<readonly number[]> {
  return path === 'events' ? foundLeads(db, event) : claimedLeads(db, repository, event);
}

/**
 * The same, without those of an event that a deletion has claimed; undefined when the lease was lost.
 * @throws {store-unavailable}
 */
export async function leadsUnderLease(
  { db, repository }: Repository,
  item: WorkItem,
): Promise<readonly number[] | undefined> {
  if (!(await db.get(FIND_MINE, leaseOf(item)))) return undefined;
  if (item.path === 'deletions') return claimedLeads(db, repository, item.event);
  const repositoryId = await readRepositoryId(db, repository);
  if (repositoryId === undefined || isElsewhere(item, repositoryId)) return [];
  const numbers = await foundLeads(db, item.event);
  const claimed = numbersOf(await db.all(CLAIMED, { repositoryId, numbers }));
  return numbers.filter((number) => !claimed.includes(number));
}

/** Whether an event that goes before this one, for what it is and not for its age, is due for its actions. @throws {store-unavailable} */
export async function isOvertaken(
  db: Database,
  { event }: WorkItem,
  now: number,
): Promise<boolean> {
  return (await db.get(OVERTAKEN, { event, now })) !== undefined;
}

/**
 * When what is to be done with the lead before the event is due (ms since the Unix epoch): an event that came before,
 * or a deletion that has claimed it until its match is certain. Undefined: nothing is, or the item is a deletion, which
 * waits for nobody. @throws {store-unavailable}
 */
export async function blockedUntil(
  { db, repository }: Repository,
  { event, path }: WorkItem,
  leadId: number,
  now: number,
): Promise<number | undefined> {
  if (path === 'deletions') return undefined;
  const repositoryId = await readRepositoryId(db, repository);
  const values = { event, leadId, repositoryId, now };
  return (await db.get<{ dueAt: number }>(BLOCKED_UNTIL, values))?.dueAt;
}

/** Whether the event holds leads of a repository that the configured name does not mean any more. @throws {store-unavailable} */
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
async function claimedLeads(db: Database, repository: string, event: number): Promise<number[]> {
  const repositoryId = await readRepositoryId(db, repository);
  return repositoryId === undefined ? [] : claimedBy(db, { repositoryId, event });
}
