import type { ActProgress, EventProgress, Effect, Todo } from '#partners/worker/progress.ts';
import type { ClaimOrder } from '#leads/claims/claim-store.ts';
import type { EventNote, EventStep, RuleEffect } from '#partners/receipts/receipt.ts';
import type { Settlement, SettleResult, WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import { appendAudit } from '../audit-log.ts';
import {
  claimsOf,
  confirmClaims,
  claimedBy,
  insertClaims,
  provisionalClaims,
  toLeadIds,
  withdrawClaims,
} from '../claim/claim-leads.ts';
import { readRepositoryId } from '../directory/view.ts';
import { SET_LEADS } from '../receipt/repeat.ts';
import { REFRESH_RECEIPT_STATUS, REQUEUE_REPEATED, WITH_GIVEN_STEP } from '../receipt/requeue.ts';
import { type Session, toJson } from '../session.ts';

/** Every write of an item is fenced: it changes nothing once the lease belongs to another. */
export const IS_MINE = `id = @event AND lease_token = @lease AND outcome = 'PENDING'`;

const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

const MATCHED = `
  UPDATE event SET progress = @progress, lead_ids = @leadIds, due_at = @dueAt,
    attempts = @attempts, last_error = NULL, note = coalesce(@note, note), lease_token = NULL,
    lease_until = NULL, history = ${WITH_GIVEN_STEP}
  WHERE ${IS_MINE}`;

/** What is DONE or IGNORED needs its payload no more; the others can be replayed for 30 days. */
const SETTLE = `
  UPDATE event SET outcome = @outcome::text, erasure = @erasure, note = coalesce(@note, note),
    attempts = @attempts, last_error = @lastError, completed_at = @now, due_at = NULL,
    lease_token = NULL, lease_until = NULL, progress = NULL,
    payload = CASE WHEN @outcome::text IN ('DONE', 'IGNORED') THEN NULL ELSE payload END
  WHERE ${IS_MINE}
  RETURNING receipt`;

/** What a write needs of the item that it is about; the payload stays where it is. */
export type LeasedEvent = Pick<WorkItem, 'event' | 'receiptId' | 'path' | 'lease'>;

export async function isMine(session: Session, item: LeasedEvent): Promise<boolean> {
  return (await session.get(FIND_MINE, item)) !== undefined;
}

type ClaimInput = Parameters<WorkStore['claim']>;

/** `WorkStore.claim`. `repository` is `owner/name` in lower case, here and below. */
export async function claim(
  session: Session,
  repository: string,
  item: LeasedEvent,
  ...[match, { now, ...next }]: [ClaimInput[1], ClaimInput[2]]
): Promise<readonly number[] | undefined> {
  if (!(await isMine(session, item))) return undefined;
  const order = await orderOf(session, repository, { item, numbers: match.leads });
  if (order && item.path === 'deletions') {
    await insertClaims(session, claimsOf(order, now));
    await withdraw(session, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  const leads = await leadsOf(session, repository, { item, found: match.leads });
  return keepMatch(session, { item, ...next, note: noteOf(match), leads });
}

type ConfirmInput = Parameters<WorkStore['confirm']>;

/** `WorkStore.confirm`. */
export async function confirm(
  session: Session,
  repository: string,
  item: LeasedEvent,
  ...[match, { now, ...plan }]: [ConfirmInput[1], ConfirmInput[2]]
): Promise<readonly number[] | undefined> {
  if (!(await isMine(session, item))) return undefined;
  const order = await orderOf(session, repository, { item, numbers: match.leads });
  if (order && item.path === 'deletions') {
    await confirmClaims(session, order, now);
    await withdraw(session, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
    await withdrawAll(session, order, { reason: 'better-match', now });
  }
  const { effect } = plan;
  const todo: Todo =
    effect && order ? { ...plan, effect: { ...effect, repositoryId: order.repositoryId } } : plan;
  const leads = await leadsOf(session, repository, { item, found: match.leads });
  const progress: ActProgress = {
    stage: 'act',
    ...todo,
    leads: leads.map((number) => ({ number, state: 'open' })),
  };
  const step: EventStep = { at: now, what: 'matched', ...(effect && { effect: shown(effect) }) };
  const next = { progress, dueAt: now, attempts: 0, note: noteOf(match), step };
  return keepMatch(session, { item, ...next, leads });
}

/** `WorkStore.settle`. */
export async function settle(
  session: Session,
  repository: string,
  item: LeasedEvent,
  settlement: Settlement & { now: number },
): Promise<SettleResult> {
  const { event } = item;
  const { outcome, attempts, erasure, note, lastError, now } = settlement;
  if ((await session.run(REQUEUE_REPEATED, item)) > 0) return 'again';
  const row = { ...item, outcome, attempts, erasure, note, lastError, now };
  const settled = await session.get<{ receipt: number }>(SETTLE, row);
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

function shown({ comment, repositoryId: _repositoryId, ...effect }: Effect): RuleEffect {
  return { ...effect, comments: comment !== undefined };
}

const CONFLICT: EventNote = 'lead-id-conflict';

function noteOf({ conflicts }: { conflicts: readonly number[] }): EventNote | undefined {
  return conflicts.length > 0 ? CONFLICT : undefined;
}

/** What an operator would ask of a lead that was out of sight for a while: why, and why no more. */
async function withdraw(
  session: Session,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  for (const number of await withdrawClaims(session, order, now))
    await appendAudit(session, {
      at: now,
      actor: { kind: 'system', subject: 'worker' },
      action: 'claim.withdraw',
      subject: `claim/${number}`,
      changes: { receiptId: order.receiptId, reason },
    });
}

/** Everything that no match has confirmed. False: there was nothing. */
async function withdrawAll(
  session: Session,
  order: ClaimOrder,
  why: { reason: string; now: number },
): Promise<boolean> {
  const numbers = await provisionalClaims(session, order);
  await withdraw(session, { ...order, numbers }, why);
  return numbers.length > 0;
}

/** Undefined while the store does not know which repository the configured name means. */
async function orderOf(
  session: Session,
  repository: string,
  { item, numbers }: { item: LeasedEvent; numbers: readonly number[] },
): Promise<ClaimOrder | undefined> {
  const repositoryId = await readRepositoryId(session, repository);
  const { event, receiptId } = item;
  return repositoryId === undefined ? undefined : { repositoryId, receiptId, event, numbers };
}

type NextStep = {
  item: LeasedEvent;
  progress: EventProgress;
  dueAt: number;
  attempts: number;
  note: EventNote | undefined;
  step?: EventStep;
  leads: readonly number[];
};

async function keepMatch(
  session: Session,
  { item, progress, step, leads, ...next }: NextStep,
): Promise<readonly number[]> {
  await session.run(MATCHED, {
    ...item,
    ...next,
    progress: JSON.stringify(progress),
    step: toJson(step),
    leadIds: toLeadIds(leads),
  });
  await session.run(REQUEUE_REPEATED, item);
  return leads;
}

/** What the event has now: what a deletion has claimed, and what was found for a rule, which claims nothing. */
async function leadsOf(
  session: Session,
  repository: string,
  { item, found }: { item: LeasedEvent; found: readonly number[] },
): Promise<readonly number[]> {
  return item.path === 'deletions' ? claimedLeads(session, repository, item.event) : found;
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
export async function claimedLeads(
  session: Session,
  repository: string,
  event: number,
): Promise<number[]> {
  const repositoryId = await readRepositoryId(session, repository);
  return repositoryId === undefined ? [] : claimedBy(session, { repositoryId, event });
}
