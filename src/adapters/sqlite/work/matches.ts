import type { ActProgress, DeletionProgress } from '#partners/deletions/deletion-progress.ts';
import type { EventNote, EventStep } from '#partners/receipts/receipt.ts';
import type { WorkItem, WorkStore } from '#partners/worker/work-store.ts';
import { appendAudit } from '../../store/audit-log.ts';
import type { Session } from '../../store/session.ts';
import { toLeadIds } from '../claims/claim-leads.ts';
import type { ClaimOrder } from '#leads/claims/claim-order.ts';
import type { ClaimWriter } from '../claims/claim-leads.ts';
import type { WorkStatements } from './statements.ts';

/** What writing a match needs. Every function here is part of the caller's transaction. */
export type MatchRuntime = {
  sql: WorkStatements;
  claims: ClaimWriter;
  session: Session;
  /** `owner/name`, in any case. */
  repository: string;
};

/** What a write needs of the item that it is about; the payload stays where it is. */
export type LeasedEvent = Pick<WorkItem, 'event' | 'receiptId' | 'lease'>;

/** For a column that may be empty. */
export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export function fence({ event, lease }: LeasedEvent): { event: number; lease: string } {
  return { event, lease };
}

type ClaimInput = Parameters<WorkStore['claim']>;

/** `WorkStore.claim`. */
export async function claim(
  runtime: MatchRuntime,
  item: LeasedEvent,
  match: ClaimInput[1],
  { now, ...next }: ClaimInput[2],
): Promise<readonly number[] | undefined> {
  if (runtime.sql.isMine.get(fence(item)) === undefined) return undefined;
  const order = orderOf(runtime, item, match.leads);
  if (order) {
    runtime.claims.claim(order, now);
    await withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  return keepMatch(runtime, item, { ...next, note: noteOf(match) });
}

type ConfirmInput = Parameters<WorkStore['confirm']>;

/** `WorkStore.confirm`. */
export async function confirm(
  runtime: MatchRuntime,
  item: LeasedEvent,
  match: ConfirmInput[1],
  { actions, lookAgain, now }: ConfirmInput[2],
): Promise<readonly number[] | undefined> {
  const { sql, claims } = runtime;
  if (sql.isMine.get(fence(item)) === undefined) return undefined;
  const order = orderOf(runtime, item, match.leads);
  if (order) {
    claims.confirm(order, now);
    await withdraw(runtime, { ...order, numbers: match.conflicts }, { reason: CONFLICT, now });
  }
  await withdrawAll(runtime, item, { reason: 'better-match', now });
  sql.forgetLook.run(item.event);
  if (order && lookAgain) {
    const { event, repositoryId } = order;
    const look = { ...lookAgain, event, repositoryId, matchedAt: now };
    sql.noteLook.run({ ...look, actions: JSON.stringify(actions) });
  }
  const leads = held(runtime, item.event).map((number) => ({ number, state: 'open' as const }));
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
  { claims, session }: MatchRuntime,
  order: ClaimOrder,
  { reason, now }: { reason: string; now: number },
): Promise<void> {
  for (const number of claims.withdraw(order))
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
  item: LeasedEvent,
  why: { reason: string; now: number },
): Promise<boolean> {
  const order = orderOf(runtime, item, []);
  if (!order) return false;
  const numbers = runtime.claims.provisional(order.repositoryId, item.event);
  await withdraw(runtime, { ...order, numbers }, why);
  return numbers.length > 0;
}

/** Undefined while the store does not know which repository the configured name means. */
function orderOf(
  { sql, repository }: MatchRuntime,
  { event, receiptId }: LeasedEvent,
  numbers: readonly number[],
): ClaimOrder | undefined {
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  return repositoryId === undefined ? undefined : { repositoryId, receiptId, event, numbers };
}

type NextStep = {
  progress: DeletionProgress;
  dueAt: number;
  attempts: number;
  note: EventNote | null;
  step?: EventStep;
};

function keepMatch(
  runtime: MatchRuntime,
  item: LeasedEvent,
  { progress, step, ...next }: NextStep,
): readonly number[] {
  const { sql } = runtime;
  const leads = held(runtime, item.event);
  sql.matched.run({
    ...fence(item),
    ...next,
    progress: JSON.stringify(progress),
    step: toJson(step),
    leadIds: toLeadIds(leads),
  });
  sql.requeueRepeated.run(fence(item));
  return leads;
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
export function held(
  {
    sql,
    claims,
    repository,
  }: Pick<MatchRuntime, 'claims' | 'repository'> & {
    sql: Pick<WorkStatements, 'repositoryId'>;
  },
  event: number,
): number[] {
  const repositoryId = sql.repositoryId.get(repository.toLowerCase());
  return repositoryId === undefined ? [] : claims.held(repositoryId, event);
}
