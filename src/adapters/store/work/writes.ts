import { SECOND } from '#shared/clock.ts';
import type { ActProgress, EventProgress, LeadProgress, Todo } from '#partners/worker/progress.ts';
import type {
  Settlement,
  SettleResult,
  Stage,
  WorkItem,
  WorkStore,
} from '#partners/worker/work-store.ts';
import type { Erasure, Outcome } from '#partners/receipts/receipt.ts';
import { confirmClaims, fromLeadIds, numbersOf, toLeadIds } from '../claim/claim-leads.ts';
import { readRepositoryId } from '../directory/repository.ts';
import { SET_LEADS } from '../receipt/repeat.ts';
import { REFRESH_RECEIPT_STATUS, REQUEUE_REPEATED } from '../receipt/requeue.ts';
import { type Session, toJson } from '../session.ts';
import { claim, confirm, claimedLeads, type LeasedEvent, orderOf, withdrawAll } from './matches.ts';
import * as sql from './statements.ts';

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
    if (latest !== undefined) await session.run(sql.DUE_TOO_LATE, { ...due, latest });
    const rows = await session.all<Omit<LeasedRow, 'lease'>>(sql.DUE, due);
    const events = rows.map(({ event }) => event);
    if (rows.length > 0)
      await session.run(sql.LEASE, { events, token, until: due.now + EVENT_LEASE_MS });
    return rows.map((row) => ({ ...row, lease: `${token}/${row.event}` }));
  },
  giveBack: async (session: Session, item: LeasedEvent): Promise<void> => {
    if ((await session.run(sql.GIVE_BACK, item)) > 0) await session.run(REQUEUE_REPEATED, item);
  },
  forgetLeases: async (session: Session, instance: string, now: number): Promise<void> => {
    if (await isFollowed(session, instance)) return;
    await session.run(sql.FORGET_LEASES);
    for (const { event } of await session.all<{ event: number }>(sql.CAME_AGAIN))
      await session.run(REQUEUE_REPEATED, { event, lease: undefined });
    await session.run(sql.DUE_NOW, { now });
    await session.run(sql.RECHECKS_NOW, { now });
  },
  moveBack: async (session: Session, by: number, now: number): Promise<void> => {
    await session.run(sql.MOVE_BACK, { by, now });
    await session.run(sql.MOVE_RECHECKS_BACK, { by });
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
    return (await session.run(sql.SAVE_PROGRESS, row)) > 0;
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
  return (await session.get(sql.WORKED_ON_BY_OTHER, { instance })) !== undefined;
}

async function reschedule(
  session: Session,
  item: LeasedEvent,
  { dueAt, attempts, lastError, progress, step }: Next,
): Promise<boolean> {
  const json = { progress: toJson(progress), step: toJson(step) };
  const row = { ...item, ...json, dueAt, attempts, lastError };
  if ((await session.run(sql.RESCHEDULE, row)) === 0) return false;
  await session.run(REQUEUE_REPEATED, item);
  return true;
}

async function settle(
  session: Session,
  repository: string,
  item: LeasedEvent,
  settlement: Settlement & { now: number },
): Promise<SettleResult> {
  const { event } = item;
  const { outcome, attempts, erasure, note, lastError, now } = settlement;
  if ((await session.run(REQUEUE_REPEATED, item)) > 0) return 'again';
  const row = { ...item, outcome, attempts, erasure, note, lastError, now };
  const settled = await session.get<{ receipt: number }>(sql.SETTLE, row);
  if (!settled) return 'lost';
  const order =
    outcome === 'UNMATCHED' && (await orderOf(session, repository, { item, numbers: [] }));
  if (order && (await withdrawAll(session, order, { reason: 'unmatched', now })))
    await session.run(SET_LEADS, {
      event,
      leadIds: toLeadIds(await claimedLeads(session, repository, event)),
    });
  await session.run(REFRESH_RECEIPT_STATUS, { receipts: [settled.receipt] });
  return 'settled';
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
  const state = await session.get<EventState>(sql.STATE, { event });
  if (!state) return [];
  if (state.outcome === 'PENDING' && state.stage === 'match') {
    await session.run(sql.PUT_OFF_RECHECK, { event, dueAt: retryAt });
    return [];
  }
  const row = await session.get<{ repositoryId: number; actions: string }>(sql.RECHECK, { event });
  if (!row) return [];
  const { repositoryId } = row;
  const todo = toTodo(JSON.parse(row.actions) as Todo['actions'] | NonNullable<Todo['effect']>);
  const before = fromLeadIds(state.leadIds);
  const isHere = repositoryId === (await readRepositoryId(session, repository));
  const numbers = todo.effect && isHere ? before : await claimedLeads(session, repository, event);
  // Not when an operator gave every lead of the event back, for then the person was wrong, nor for a
  // repository that the configured name does not mean any more.
  const found = numbers.length > 0 ? numbersOf(await session.all(sql.LATE_LEADS, { event })) : [];
  const late = todo.effect ? found.filter((number) => !before.includes(number)) : found;
  const opening = { event, receiptId, now, numbers, late, todo, repositoryId };
  if (late.length > 0) await reopenEvent(session, opening, state);
  if (nextAt === undefined) await session.run(sql.FORGET_RECHECK, { event });
  else await session.run(sql.PUT_OFF_RECHECK, { event, dueAt: nextAt });
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
  await session.run(sql.REOPEN, {
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
