import { HOUR, SECOND } from '#shared/clock.ts';
import type { ActProgress, EventProgress, LeadProgress, Todo } from '#partners/worker/progress.ts';
import type { Stage, WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import type { Erasure, Outcome } from '#partners/receipts/receipt.ts';
import { confirmClaims, fromLeadIds, numbersOf, toLeadIds } from '../claim/claim-leads.ts';
import { MERGED_INTO, readRepositoryId } from '../directory/view.ts';
import {
  REFRESH_RECEIPT_STATUS,
  REQUEUE_REPEATED,
  WITH_END,
  WITH_GIVEN_STEP,
  withStep,
} from '../receipt/requeue.ts';
import { either, type Session, toJson } from '../session.ts';
import { DUE } from './due.ts';
import {
  claim,
  claimedLeads,
  confirm,
  FORGET_RECHECK,
  IS_MINE,
  type LeasedEvent,
  settle,
} from './matches.ts';

const DUE_TOO_LATE = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND stage = @stage AND due_at > @latest`;

/** A file has one service. */
const WORKED_ON_BY_OTHER = either(
  'SELECT 1 FROM worker_lease WHERE holder <> @instance',
  'SELECT 1 WHERE false',
);

const LEASE = `
  UPDATE event SET lease_token = @token::text || '/' || id, lease_until = @until
  WHERE id = ANY(@events::bigint[])`;

const FORGET_LEASES = `
  UPDATE event SET lease_token = NULL, lease_until = NULL
  WHERE outcome = 'PENDING' AND lease_token IS NOT NULL`;

const CAME_AGAIN = "SELECT id AS event FROM event WHERE outcome = 'PENDING' AND again > 0";

const DUE_NOW = `
  UPDATE event SET due_at = @now
  WHERE outcome = 'PENDING' AND due_at > @now AND (progress IS NULL
    OR last_error = 'partner-unknown' OR receipt IN (SELECT number FROM receipt WHERE received_at > @now))`;

/** What is due by now was accepted since, or has waited long enough by any clock. */
const MOVE_BACK = `
  UPDATE event SET due_at = CASE WHEN due_at > @now THEN due_at - @by ELSE due_at END,
    lease_until = lease_until - @by
  WHERE outcome = 'PENDING'`;

const GIVE_BACK = `
  UPDATE event SET lease_token = NULL, lease_until = NULL WHERE ${IS_MINE}`;

const SAVE_PROGRESS = `
  UPDATE event SET progress = @progress, lease_until = @until WHERE ${IS_MINE}`;

const RESCHEDULE = `
  UPDATE event SET due_at = @dueAt, attempts = @attempts, last_error = @lastError,
    progress = coalesce(@progress, progress), lease_token = NULL, lease_until = NULL,
    history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

/** A clock that was wrong leaves instants behind that are further away than any recheck. */
const AHEAD_MAX_MS = HOUR;

const PUT_OFF_RECHECK = 'UPDATE recheck SET due_at = @dueAt WHERE event = @event';

const MOVE_RECHECKS_BACK = `
  UPDATE recheck SET due_at = due_at - @by, matched_at = matched_at - @by`;

const RECHECKS_NOW = `
  UPDATE recheck SET due_at = @now, matched_at = least(matched_at, @now)
  WHERE matched_at > @now OR due_at > @now::bigint + ${AHEAD_MAX_MS}`;

const RECHECK = 'SELECT repository_id, actions FROM recheck WHERE event = @event';

/** Whatever the event did with a lead before, also what an operator gave back, is not late. */
const LATE_LEADS = `
  WITH RECURSIVE ${MERGED_INTO('SELECT key_hash, key_hash FROM recheck WHERE event = @event')}
  SELECT DISTINCT lead.number FROM recheck CROSS JOIN known
    JOIN directory_key AS identity
      ON identity.key_hash = known.hash AND identity.repository_id = recheck.repository_id
    JOIN directory_lead AS lead
      ON lead.repository_id = recheck.repository_id AND lead.number = identity.number
  WHERE recheck.event = @event AND lead.created_at <= recheck.created_before
    AND NOT EXISTS (SELECT 1 FROM claim WHERE claim.event = @event
      AND claim.repository_id = recheck.repository_id AND claim.number = lead.number)
  ORDER BY lead.number`;

const STATE = `
  SELECT outcome, stage, progress, erasure, coalesce(lead_ids, '[]') AS lead_ids, receipt
  FROM event WHERE id = @event`;

/** Whoever has the event in hand loses it: what it knows of the leads is not all any more. */
const REOPEN = `
  UPDATE event SET outcome = 'PENDING', completed_at = NULL, due_at = @now, progress = @progress,
    lead_ids = @leadIds, lease_token = NULL, lease_until = NULL,
    history = ${withStep(`jsonb_build_object('at', @now::bigint, 'what', 'late-lead')`, `CASE WHEN outcome = 'PENDING' THEN history ELSE ${WITH_END} END`)},
    attempts = CASE WHEN outcome = 'PENDING' THEN attempts ELSE 0 END,
    last_error = CASE WHEN outcome = 'PENDING' THEN last_error END
  WHERE id = @event`;

/** Longer than any one step takes, and short enough to resume within half a minute of a crash. */
const EVENT_LEASE_MS = 25 * SECOND;

/** A leased event as it is stored. */
export type LeasedRow = Omit<WorkItem, 'progress'> & { progress?: string };

type Due = { stage: Stage; now: number; limit: number; latest: number | undefined };

type Next = Parameters<WorkStore['reschedule']>[1];

/** `repository` is `owner/name` in lower case; `instance` who works. */
export const workWrites = {
  /** Each event is leased under `token` and its own number. */
  lease: async (
    session: Session,
    { latest, ...due }: Due,
    { instance, token }: { instance: string; token: string },
  ): Promise<LeasedRow[]> => {
    if (await isFollowed(session, instance)) return [];
    if (latest !== undefined) await session.run(DUE_TOO_LATE, { ...due, latest });
    const rows = await session.all<Omit<LeasedRow, 'lease'>>(DUE, due);
    const events = rows.map(({ event }) => event);
    if (rows.length > 0)
      await session.run(LEASE, { events, token, until: due.now + EVENT_LEASE_MS });
    return rows.map((row) => ({ ...row, lease: `${token}/${row.event}` }));
  },
  giveBack: async (session: Session, item: LeasedEvent): Promise<void> => {
    if ((await session.run(GIVE_BACK, item)) > 0) await session.run(REQUEUE_REPEATED, item);
  },
  forgetLeases: async (session: Session, instance: string, now: number): Promise<void> => {
    if (await isFollowed(session, instance)) return;
    await session.run(FORGET_LEASES);
    for (const { event } of await session.all<{ event: number }>(CAME_AGAIN))
      await session.run(REQUEUE_REPEATED, { event, lease: undefined });
    await session.run(DUE_NOW, { now });
    await session.run(RECHECKS_NOW, { now });
  },
  moveBack: async (session: Session, by: number, now: number): Promise<void> => {
    await session.run(MOVE_BACK, { by, now });
    await session.run(MOVE_RECHECKS_BACK, { by });
  },
  claim,
  confirm,
  saveProgress: async (
    session: Session,
    item: LeasedEvent,
    progress: EventProgress,
    now: number,
  ): Promise<boolean> => {
    const row = { ...item, progress: JSON.stringify(progress), until: now + EVENT_LEASE_MS };
    return (await session.run(SAVE_PROGRESS, row)) > 0;
  },
  reschedule,
  postpone: async (
    session: Session,
    postponed: readonly { item: LeasedEvent; next: Next }[],
  ): Promise<void> => {
    for (const { item, next } of postponed) await reschedule(session, item, next);
  },
  settle,
  recheck,
};

/** A process that was frozen does not know yet that it was followed. */
async function isFollowed(session: Session, instance: string): Promise<boolean> {
  return (await session.get(WORKED_ON_BY_OTHER, { instance })) !== undefined;
}

async function reschedule(
  session: Session,
  item: LeasedEvent,
  { dueAt, attempts, lastError, progress, step }: Next,
): Promise<boolean> {
  const json = { progress: toJson(progress), step: toJson(step) };
  const row = { ...item, ...json, dueAt, attempts, lastError };
  if ((await session.run(RESCHEDULE, row)) === 0) return false;
  await session.run(REQUEUE_REPEATED, item);
  return true;
}

type EventState = {
  outcome: Outcome;
  stage: Stage;
  progress?: string;
  erasure?: Erasure;
  leadIds: string;
  receipt: number;
};

/** `WorkStore.recheck`. */
async function recheck(
  session: Session,
  repository: string,
  ...[one, { now, retryAt, nextAt }]: Parameters<WorkStore['recheck']>
): Promise<readonly number[]> {
  const { event, receiptId } = one;
  const state = await session.get<EventState>(STATE, { event });
  if (!state) return [];
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    await session.run(PUT_OFF_RECHECK, { event, dueAt: retryAt });
    return [];
  }
  const row = await session.get<{ repositoryId: number; actions: string }>(RECHECK, { event });
  if (!row) return [];
  const { repositoryId } = row;
  const todo = toTodo(JSON.parse(row.actions) as Todo['actions'] | NonNullable<Todo['effect']>);
  const before = fromLeadIds(state.leadIds);
  const isHere = repositoryId === (await readRepositoryId(session, repository));
  const numbers = todo.effect && isHere ? before : await claimedLeads(session, repository, event);
  // Not when an operator gave every lead of the event back, for then the person was wrong, nor for a
  // repository that the configured name does not mean any more.
  const found = numbers.length > 0 ? numbersOf(await session.all(LATE_LEADS, { event })) : [];
  const late = todo.effect ? found.filter((number) => !before.includes(number)) : found;
  const opening = { event, receiptId, now, numbers, late, todo, repositoryId };
  if (late.length > 0) await reopenEvent(session, opening, state);
  if (nextAt === undefined) await session.run(FORGET_RECHECK, { event });
  else await session.run(PUT_OFF_RECHECK, { event, dueAt: nextAt });
  return late;
}

/** From `recheck.actions`: the actions of a deletion, or what a rule does. */
function toTodo(actions: Todo['actions'] | NonNullable<Todo['effect']>): Todo {
  return 'addLabels' in actions ? { actions: [], effect: actions } : { actions };
}

type Opening = {
  event: number;
  receiptId: string;
  now: number;
  /** What the event holds. */
  numbers: readonly number[];
  late: readonly number[];
  todo: Todo;
  repositoryId: number;
};

async function reopenEvent(
  session: Session,
  { event, receiptId, now, numbers, late, todo, repositoryId }: Opening,
  state: EventState,
): Promise<void> {
  if (!todo.effect)
    await confirmClaims(session, { repositoryId, receiptId, event, numbers: late }, now);
  const progress: ActProgress = {
    stage: 'act',
    ...todo,
    leads: [
      ...leadsBefore(state, numbers),
      ...late.map((number) => ({ number, state: 'open' as const })),
    ],
  };
  const leadIds = new Set([...fromLeadIds(state.leadIds), ...late]);
  await session.run(REOPEN, {
    event,
    progress: JSON.stringify(progress),
    leadIds: toLeadIds([...leadIds].sort((left, right) => left - right)),
    now,
  });
  await session.run(REFRESH_RECEIPT_STATUS, { receipts: [state.receipt] });
}

/** What was done to the leads before: all of it when the event was DONE, and else it is tried again. */
function leadsBefore(state: EventState, numbers: readonly number[]): readonly LeadProgress[] {
  const { outcome, erasure, progress } = state;
  const leads = progress === undefined ? undefined : leadsIn(JSON.parse(progress) as EventProgress);
  if (leads) return leads;
  return numbers.map((number) =>
    outcome === 'DONE' ? { number, state: 'done', erasure } : { number, state: 'open' },
  );
}

/** Not checked here: whoever leases the event does, and begins anew what another version wrote. */
function leadsIn(progress: EventProgress): readonly LeadProgress[] | undefined {
  return progress.stage === 'act' && Array.isArray(progress.leads) ? progress.leads : undefined;
}
