import { readProgress } from './progress.ts';
import { type DirectoryView, matchLeads, type MatchName } from '#leads/directory/match.ts';
import type { WorkCounts, WorkItem, WorkStore } from './work-store.ts';
import { MINUTE } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { createBatch } from '#shared/resilience/batch.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { NewId } from '#shared/ids.ts';
import { fromLeadIds, numbersOf, REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import { readDirectoryView, readRepositoryId } from '#leads/directory/directory-view.ts';
import { EVENTS_OF_LEAD } from '../receipts/receipt-conditions.ts';
import { openPayload } from '../intake/insert-deliveries.ts';
import type { Database, Tx } from '#shared/database.ts';
import { OVERTAKEN } from './due-events.ts';
import {
  claimedLeads,
  isMine,
  keepMatches,
  type LeasedEvent,
  type NewMatch,
} from './match/keep-matches.ts';
import { type LeasedRow, workWrites } from './lease-events.ts';

const NEXT_DUE_AT = `
  SELECT due_at FROM event WHERE stage = @stage AND outcome = 'PENDING' AND lease_token IS NULL
  ORDER BY due_at LIMIT 1`;

const TO_LEASE = `
  SELECT 1 FROM event WHERE stage = @stage AND outcome = 'PENDING' AND due_at <= @now
  UNION ALL
  SELECT 1 FROM event WHERE stage = @stage AND outcome = 'PENDING' AND due_at > @latest
  LIMIT 1`;

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

const FOUND_LEADS = 'SELECT lead_ids FROM event WHERE id = @event';

const LEADS_ELSEWHERE = `
  SELECT 1 FROM claim WHERE event = @event AND released_at IS NULL
    AND repository_id <> ${REPOSITORY_NOT_KNOWN} AND repository_id
    IS DISTINCT FROM (SELECT repository_id FROM tracker_repository WHERE name = @name) LIMIT 1`;

const COUNTS = `
  SELECT count(*) AS open, min(asked_at) AS oldest_asked_at,
    (SELECT count(*) FROM event WHERE outcome = 'FAILED') AS dead_letters
  FROM event /*sqlite INDEXED BY event_due*/ WHERE outcome = 'PENDING'`;

const LACKED_PARTNERS = `
  SELECT DISTINCT partner_id FROM receipt WHERE number IN
    (SELECT receipt FROM event WHERE outcome = 'PENDING' AND last_error = 'partner-unknown')`;

export type WorkStoreDeps = {
  database: Database;
  /** Who takes the worker's lease: while another one has it, nothing is leased here. */
  instance: string;
  /** Opens the bytes of events. */
  sealer: Sealer;
  newId: NewId;
  /** `owner/name`, in any case. */
  repository: string;
};

/** The worker's store, whatever the engine. */
export function createWorkStore({
  database,
  instance,
  sealer,
  newId,
  ...deps
}: WorkStoreDeps): WorkStore {
  const repository = deps.repository.toLowerCase();
  const { exclusive } = database;
  const keep = createBatch({
    callAll: (matches: readonly NewMatch[]) =>
      database.exclusive((tx) => keepMatches(tx, repository, matches)),
    sizeOf: () => 1,
    sizeMax: MATCHES_MAX,
    isShared: (error) => isTrackportError(error, 'store-unavailable'),
  });
  return {
    lease: async (stage, now, limit, aheadMaxMs) => {
      const latest = aheadMaxMs === undefined ? undefined : now + aheadMaxMs;
      // Asked after every step, and mostly there is nothing: that needs no transaction.
      if (!(await database.get(TO_LEASE, { stage, now, latest }))) return [];
      const holder = { instance, token: newId() };
      const rows = await exclusive((tx) =>
        workWrites.lease(tx, { stage, now, limit, latest }, holder),
      );
      return rows.map((row) => toItem(sealer, row));
    },
    nextDueAt: async (stage) =>
      (await database.get<{ dueAt: number }>(NEXT_DUE_AT, { stage }))?.dueAt,
    changedElsewhere: createChangeProbe(database),
    forgetLeases: (now) => exclusive((tx) => workWrites.forgetLeases(tx, instance, now)),
    ...createItemReads(database, repository),
    giveBack: (item) => exclusive((tx) => workWrites.giveBack(tx, leased(item))),
    claim: (item, match, next) => keep({ item: leased(item), match, next }),
    confirm: (item, match, plan) => keep({ item: leased(item), match, plan }),
    saveProgress: (item, ...progress) =>
      exclusive((tx) => workWrites.saveProgress(tx, leased(item), ...progress)),
    reschedule: (item, next) => exclusive((tx) => workWrites.reschedule(tx, leased(item), next)),
    postpone: (postponed) =>
      exclusive((tx) =>
        workWrites.postpone(
          tx,
          postponed.map(({ item, ...next }) => ({
            item: leased(item),
            next: { ...next, attempts: item.attempts },
          })),
        ),
      ),
    settle: (item, settlement, now) =>
      exclusive((tx) => workWrites.settle(tx, repository, leased(item), { ...settlement, now })),
    counts: () => readCounts(database),
    truncateWal: () => database.truncateWal(),
  };
}

/** Of the matches that are kept in one transaction. */
const MATCHES_MAX = 100;

/** Tells whether anything may have been committed since the last call. */
function createChangeProbe(database: Database): () => Promise<boolean> {
  let seen: number | undefined;
  return async () => {
    const before = seen;
    seen = await database.dataVersion();
    return seen !== before;
  };
}

function leased({ event, receiptId, path, lease }: WorkItem): LeasedEvent {
  return { event, receiptId, path, lease };
}

type ItemReads = Pick<
  WorkStore,
  'match' | 'leadsOf' | 'leadsUnderLease' | 'isOvertaken' | 'blockedUntil' | 'hasLeadsElsewhere'
>;

function createItemReads(session: Tx, repository: string): ItemReads {
  return {
    match: async (names, createdBefore) => {
      const directory = await readDirectoryView(session, repository, names);
      return { ...matchLeads(names, directory, createdBefore), ...unknownOf(names, directory) };
    },
    leadsOf: ({ event, path }) =>
      path === 'events' ? foundLeads(session, event) : claimedLeads(session, repository, event),
    leadsUnderLease: async (item) => {
      if (!(await isMine(session, item))) return undefined;
      return item.path === 'events'
        ? unclaimed(session, repository, item)
        : claimedLeads(session, repository, item.event);
    },
    isOvertaken: async ({ event }, now) =>
      (await session.get(OVERTAKEN, { event, now })) !== undefined,
    blockedUntil: async ({ event, path }, leadId, now) => {
      if (path === 'deletions') return undefined;
      const repositoryId = await readRepositoryId(session, repository);
      const values = { event, leadId, repositoryId, now };
      return (await session.get<{ dueAt: number }>(BLOCKED_UNTIL, values))?.dueAt;
    },
    hasLeadsElsewhere: async (item) =>
      isElsewhere(item, await readRepositoryId(session, repository)) ||
      (await session.get(LEADS_ELSEWHERE, { event: item.event, name: repository })) !== undefined,
  };
}

async function unclaimed(session: Tx, repository: string, item: WorkItem): Promise<number[]> {
  const repositoryId = await readRepositoryId(session, repository);
  if (repositoryId === undefined || isElsewhere(item, repositoryId)) return [];
  const numbers = await foundLeads(session, item.event);
  const claimed = numbersOf(await session.all(CLAIMED, { repositoryId, numbers }));
  return numbers.filter((number) => !claimed.includes(number));
}

/** Its leads have numbers of another repository than the configured one. */
function isElsewhere({ progress }: WorkItem, repositoryId: number | undefined): boolean {
  const own = progress?.stage === 'act' ? progress.effect?.repositoryId : undefined;
  return own !== undefined && own !== repositoryId;
}

async function foundLeads(session: Tx, event: number): Promise<number[]> {
  const row = await session.get<{ leadIds?: string }>(FOUND_LEADS, { event });
  return fromLeadIds(row?.leadIds);
}

function unknownOf(
  names: readonly MatchName[],
  directory: DirectoryView,
): { unknownLeadId?: number } {
  const leadId = names.find((name) => name.kind === 'lead-id');
  return leadId && !directory.has(leadId.number) ? { unknownLeadId: leadId.number } : {};
}

function toItem(sealer: Sealer, row: LeasedRow): WorkItem {
  const { payload: sealed, progress: stored, ...item } = row;
  const payload = sealed && openPayload(sealer, row, sealed);
  const progress = readProgress(stored);
  return {
    ...item,
    ...(payload && { payload }),
    ...(progress && { progress }),
  };
}

async function readCounts(session: Tx): Promise<WorkCounts> {
  const counts = await session.get<Omit<WorkCounts, 'lackedPartners'>>(COUNTS);
  const lacked = await session.all<{ partnerId: string }>(LACKED_PARTNERS);
  return {
    open: 0,
    deadLetters: 0,
    ...counts,
    lackedPartners: lacked.map(({ partnerId }) => partnerId),
  };
}
