import type { ActProgress, EventProgress, Effect, Todo } from '#partners/worker/progress.ts';
import type { ClaimOrder } from '#leads/claims/claim-store.ts';
import type { EventNote, EventStep, RuleEffect } from '#partners/receipts/receipt.ts';
import type { WorkItem, WorkStore } from '#partners/worker/work-store.ts';
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
import { readRepositoryId } from '../directory/repository.ts';
import { REQUEUE_REPEATED } from '../receipt/requeue.ts';
import { type Session, toJson } from '../session.ts';
import * as sql from './statements.ts';

/** What a write needs of the item that it is about; the payload stays where it is. */
export type LeasedEvent = Pick<WorkItem, 'event' | 'receiptId' | 'path' | 'lease'>;

export async function isMine(session: Session, item: LeasedEvent): Promise<boolean> {
  return (await session.get(sql.FIND_MINE, item)) !== undefined;
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
  ...[match, { recheck, now, ...plan }]: [ConfirmInput[1], ConfirmInput[2]]
): Promise<readonly number[] | undefined> {
  const { event } = item;
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
  await session.run(sql.FORGET_RECHECK, { event });
  if (order && recheck) {
    const actions = JSON.stringify(todo.effect ?? todo.actions);
    await session.run(sql.NOTE_RECHECK, { ...recheck, ...order, matchedAt: now, actions });
  }
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
export async function withdrawAll(
  session: Session,
  order: ClaimOrder,
  why: { reason: string; now: number },
): Promise<boolean> {
  const numbers = await provisionalClaims(session, order);
  await withdraw(session, { ...order, numbers }, why);
  return numbers.length > 0;
}

/** Undefined while the store does not know which repository the configured name means. */
export async function orderOf(
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
  await session.run(sql.MATCHED, {
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
