import type { ActProgress, DeletionProgress } from '#partners/deletions/deletion-progress.ts';
import type { EventNote, EventStep } from '#partners/receipts/receipt.ts';
import type { WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import { appendAudit } from '../../store/audit-log.ts';
import {
  claimsOf,
  confirmClaims,
  heldClaims,
  insertClaims,
  provisionalClaims,
  toLeadIds,
  withdrawClaims,
} from '../claims/claim-leads.ts';
import type { ClaimOrder } from '#leads/claims/claim-order.ts';
import type { Session } from '../connection/database.ts';
import { REQUEUE_REPEATED } from '../receipt/requeue.ts';
import * as sql from './statements.ts';

/** What writing a match needs. Every function here is part of the caller's transaction. */
export type MatchRuntime = {
  session: Session;
  /** `owner/name` in lower case. */
  repository: string;
};

/** For a column that may be empty. */
export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export function fence({ event, lease }: WorkItem): { event: number; lease: string } {
  return { event, lease };
}

export async function isMine({ session }: MatchRuntime, item: WorkItem): Promise<boolean> {
  return (await session.get(sql.FIND_MINE, fence(item))) !== undefined;
}

type ClaimInput = Parameters<WorkStore['claim']>;

/** `WorkStore.claim`. */
export async function claim(
  runtime: MatchRuntime,
  item: WorkItem,
  match: ClaimInput[1],
  { now, ...next }: ClaimInput[2],
): Promise<readonly number[] | undefined> {
  if (!(await isMine(runtime, item))) return undefined;
  const order = await orderOf(runtime, item, match.leads);
  if (order) {
    await insertClaims(runtime.session, claimsOf(order, now));
    await withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  return keepMatch(runtime, item, { ...next, note: noteOf(match) });
}

type ConfirmInput = Parameters<WorkStore['confirm']>;

/** `WorkStore.confirm`. */
export async function confirm(
  runtime: MatchRuntime,
  item: WorkItem,
  match: ConfirmInput[1],
  { actions, lookAgain, now }: ConfirmInput[2],
): Promise<readonly number[] | undefined> {
  const { session } = runtime;
  const { event } = item;
  if (!(await isMine(runtime, item))) return undefined;
  const order = await orderOf(runtime, item, match.leads);
  if (order) {
    await confirmClaims(session, order, now);
    await withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  await withdrawAll(runtime, item, { reason: 'better-match', now });
  await session.run(sql.FORGET_LOOK, { event });
  if (order && lookAgain)
    await session.run(sql.NOTE_LOOK, { ...lookAgain, ...order, actions, matchedAt: now });
  const numbers = await held(runtime, event);
  const leads = numbers.map((number) => ({ number, state: 'open' as const }));
  const progress: ActProgress = { stage: 'act', actions: [...actions], leads };
  const step: EventStep = { at: now, what: 'matched' };
  return keepMatch(runtime, item, { progress, dueAt: now, attempts: 0, note: noteOf(match), step });
}

const CONFLICT: EventNote = 'lead-id-conflict';

function noteOf({ conflicts }: { conflicts: readonly number[] }): EventNote | null {
  return conflicts.length > 0 ? CONFLICT : null;
}

/** What an operator would ask of a lead that was out of sight for a while: why, and why no more. */
async function withdraw(
  { session }: MatchRuntime,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  for (const number of await withdrawClaims(session, order))
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
  runtime: MatchRuntime,
  item: WorkItem,
  why: { reason: string; now: number },
): Promise<boolean> {
  const order = await orderOf(runtime, item, []);
  if (!order) return false;
  const numbers = await provisionalClaims(runtime.session, order);
  await withdraw(runtime, { ...order, numbers }, why);
  return numbers.length > 0;
}

async function readRepositoryId({
  session,
  repository,
}: MatchRuntime): Promise<number | undefined> {
  const row = await session.get<{ repositoryId: number }>(sql.REPOSITORY_ID, { name: repository });
  return row?.repositoryId;
}

/** Undefined while the store does not know which repository the configured name means. */
async function orderOf(
  runtime: MatchRuntime,
  { event, receiptId }: WorkItem,
  numbers: readonly number[],
): Promise<ClaimOrder | undefined> {
  const repositoryId = await readRepositoryId(runtime);
  return repositoryId === undefined ? undefined : { repositoryId, receiptId, event, numbers };
}

type NextStep = {
  progress: DeletionProgress;
  dueAt: number;
  attempts: number;
  note: EventNote | null;
  step?: EventStep;
};

async function keepMatch(
  runtime: MatchRuntime,
  item: WorkItem,
  { progress, step, ...next }: NextStep,
): Promise<readonly number[]> {
  const { session } = runtime;
  const leads = await held(runtime, item.event);
  await session.run(sql.MATCHED, {
    ...fence(item),
    ...next,
    progress: JSON.stringify(progress),
    step: toJson(step),
    leadIds: toLeadIds(leads),
  });
  await session.run(REQUEUE_REPEATED, fence(item));
  return leads;
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
export async function held(runtime: MatchRuntime, event: number): Promise<number[]> {
  const repositoryId = await readRepositoryId(runtime);
  return repositoryId === undefined ? [] : heldClaims(runtime.session, { repositoryId, event });
}
