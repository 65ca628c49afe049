/** Leads that an event holds, and the right of its worker to write to each of them: its turn, its one comment. */
import { claimedBy, fromLeadIds, REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-leads.ts';
import {
  type LeadStore,
  numbersOf,
  readRepositoryId,
  type StoredRepositoryName,
} from '#leads/lead-store.ts';
import type { Database } from '#shared/database.ts';
import { isDeletion } from '../receipts/receipt.ts';
import { IS_MINE, leaseOf, saveProgress, DUE_AND_FREE, RANKS } from './lease-events.ts';
import type { WorkItem } from './work-item.ts';
import type { ActProgress, LeadProgress } from '../receipts/event-progress.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import type { Pacer } from './may-write.ts';
import { EVENTS_OF_LEAD } from '../receipts/read-receipts.ts';

/** The store, and the repository in it whose leads are meant. */
export type RepositoryStore = Pick<LeadStore, 'db' | 'repository'>;

const FOUND_LEADS = 'SELECT lead_ids FROM event WHERE id = @event';

/**
 * The leads that a deletion still holds: an operator may have given some back. Those of an event that a rule is for
 * are the ones that were found. @throws {store-unavailable}
 */
export function leadsOf(
  { db, repository }: RepositoryStore,
  item: WorkItem,
): Promise<readonly number[]> {
  const { event } = item;
  return isDeletion(item) ? claimedLeads(db, repository, event) : foundLeads(db, event);
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

const LEADS_ELSEWHERE = `
  SELECT 1 FROM claim WHERE event = @event AND released_at IS NULL
    AND repository_id <> ${REPOSITORY_NOT_KNOWN} AND repository_id
    IS DISTINCT FROM (SELECT repository_id FROM tracker_repository WHERE name = @name) LIMIT 1`;

/** True when the event holds leads of a repository that the configured name does not mean any more. @throws {store-unavailable} */
export async function hasLeadsElsewhere(
  { db, repository }: RepositoryStore,
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

/** Another worker has the event. */
export class LeaseLost extends Error {}

/** A deletion came that goes first. What is done is kept, and the turn to write is still there. */
export class Overtaken extends Error {}

/** Reason that a lead of the event is not written now. */
export type NoTurn =
  /** Earlier work is to be done, or to be seen, first: to be tried again at `retryAt` (ms since the Unix epoch). */
  | { kind: 'blocked'; retryAt: number }
  /** An operator has given the lead back, or a deletion has claimed what an event was to change. */
  | { kind: 'not-held' };

/** Leads of an event while this worker has its lease. */
export type LeasedLeads = {
  all(): readonly LeadProgress[];
  note(changed: LeadProgress): void;
  drop(number: number): void;
  /** Stores what was noted, for the next try. @throws {LeaseLost} @throws {store-unavailable} */
  save(): Promise<void>;
  /**
   * Waits for the turn to write; undefined when it has come. @throws {LeaseLost} @throws {Overtaken}
   * @throws {store-unavailable} @throws the signal's reason when it is aborted
   */
  turn(number: number): Promise<NoTurn | undefined>;
};

const ASK_AGAIN_MS = SECOND;
/** The earlier work may become due sooner than it was. */
const ASK_AGAIN_MAX_MS = MINUTE;

export function createLeasedLeads(
  {
    db,
    repository,
    pacer,
    clock,
  }: RepositoryStore & { pacer: Pick<Pacer, 'turn'>; clock: Pick<Clock, 'now'> },
  item: WorkItem & { progress: ActProgress },
  signal: AbortSignal,
): LeasedLeads {
  let { leads } = item.progress;
  return {
    all: () => leads,
    note: (changed) => {
      leads = leads.map((lead) => (lead.number === changed.number ? changed : lead));
    },
    drop: (number) => {
      leads = leads.filter((lead) => lead.number !== number);
    },
    save: async () => {
      const isSaved = await saveProgress(db, item, { ...item.progress, leads }, clock.now());
      if (!isSaved) throw new LeaseLost();
    },
    turn: async (number) => {
      await pacer.turn(signal);
      const now = clock.now();
      if (await isOvertaken(db, item, now)) throw new Overtaken();
      const dueAt = await blockedUntil({ db, repository }, item, number, now);
      if (dueAt !== undefined)
        return {
          kind: 'blocked',
          retryAt: Math.min(Math.max(dueAt, now) + ASK_AGAIN_MS, now + ASK_AGAIN_MAX_MS),
        };
      const numbers = await leadsUnderLease({ db, repository }, item);
      if (!numbers) throw new LeaseLost();
      return numbers.includes(number) ? undefined : { kind: 'not-held' };
    },
  };
}

/** Events that would have the turn of the one that is worked on; not one that was refused, and may be again. */
const OVERTAKEN = `
  SELECT 1 FROM event WHERE stage = 'act' AND rank IN (${RANKS.join(', ')}) AND ${DUE_AND_FREE}
    AND last_error IS DISTINCT FROM 'forbidden'
    AND rank < (SELECT rank FROM event WHERE id = @event) LIMIT 1`;

/** True when an event is due for its actions that goes before this one by its rank, not by its age. @throws {store-unavailable} */
export async function isOvertaken(
  db: Database,
  { event }: WorkItem,
  now: number,
): Promise<boolean> {
  return (await db.get(OVERTAKEN, { event, now })) !== undefined;
}

/** Longest time that an unmatched event holds up others: by then it has matched, or the tracker fails. */
const UNMATCHED_WAIT_MAX_MS = MINUTE;

/**
 * Events that go before this one at the lead, by one of three rules:
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

/**
 * Due time (ms since the Unix epoch) of the work on the lead that goes before the event: of an event that came before,
 * or of a deletion that has claimed it until its match is certain. Undefined when there is none, or the item is a
 * deletion, which waits for nobody. @throws {store-unavailable}
 */
export async function blockedUntil(
  { db, repository }: RepositoryStore,
  item: WorkItem,
  leadId: number,
  now: number,
): Promise<number | undefined> {
  if (isDeletion(item)) return undefined;
  const repositoryId = await readRepositoryId(db, repository);
  const values = { event: item.event, leadId, repositoryId, now };
  return (await db.get<{ dueAt: number }>(BLOCKED_UNTIL, values))?.dueAt;
}

const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

const CLAIMED = `
  SELECT DISTINCT number FROM claim
  WHERE repository_id = @repositoryId AND number = ANY(@numbers::bigint[]) AND released_at IS NULL`;

/**
 * `leadsOf` without those of an event that a deletion has claimed; undefined when the lease was lost.
 * @throws {store-unavailable}
 */
export async function leadsUnderLease(
  { db, repository }: RepositoryStore,
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

/**
 * Our comment on one issue, as the store knows it. The tracker's own list of comments is not enough: a replica that
 * lags does not show one of a moment ago, whoever wrote it, for this event or for another of its delivery.
 */
export type OwnComment = {
  /** Undefined: nobody has tried. `triedAt`: ms since the Unix epoch. @throws {store-unavailable} */
  read(): Promise<{ triedAt: number; isWritten: boolean } | undefined>;
  /** To be called before it is sent. @throws {LeaseLost} @throws {store-unavailable} */
  noteTry(now: number): Promise<void>;
  /** The tracker said that it has it. @throws {store-unavailable} */
  noteWritten(): Promise<void>;
};

/** All deletions of one delivery write the same comment, each event with a rule its own. */
const READ_COMMENT = `
  SELECT tried_at, is_written FROM event_comment
  WHERE number = @number AND event IN (SELECT id FROM event WHERE receipt =
    (SELECT receipt FROM event WHERE id = @event) AND (id = @event OR is_deletion = true))
  ORDER BY is_written DESC, tried_at DESC LIMIT 1`;

const NOTE_TRY = `
  INSERT INTO event_comment (event, number, tried_at)
  SELECT id, @number::bigint, @now::bigint FROM event WHERE ${IS_MINE}
  ON CONFLICT (event, number) DO UPDATE SET tried_at = excluded.tried_at`;

/** Not fenced: it is so whoever has the event now, and keeps that one from writing the comment twice. */
const NOTE_WRITTEN = `
  UPDATE event_comment SET is_written = true WHERE event = @event AND number = @number`;

export function createOwnComment(db: Database, item: WorkItem, number: number): OwnComment {
  const { event } = item;
  return {
    read: () => db.get(READ_COMMENT, { event, number }),
    noteTry: async (now) => {
      const row = { ...leaseOf(item), number, now };
      if ((await db.exclusive((tx) => tx.run(NOTE_TRY, row))) === 0) throw new LeaseLost();
    },
    noteWritten: async () => void (await db.run(NOTE_WRITTEN, { event, number })),
  };
}
