import type { Match } from '#leads/directory/match.ts';
import type { ActProgress, Effect, MatchProgress, Todo } from '../progress.ts';
import type { EventNote, EventStep, RuleEffect } from '../../receipts/receipt.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import type { Settlement, SettleResult, WorkItem } from '../work-item.ts';
import { appendAudit } from '#shared/audit-log.ts';
import {
  type ClaimOrder,
  claimsOf,
  confirmClaims,
  claimedBy,
  claimsHeld,
  insertClaims,
  provisionalClaims,
  toLeadIds,
  withdrawClaims,
} from '#leads/claims/claim-leads.ts';
import { readRepositoryId } from '#leads/directory/directory-view.ts';
import {
  REFRESH_RECEIPT_STATUS,
  REQUEUE_REPEATED,
  SET_LEADS,
  withStep,
} from '../../receipts/requeue.ts';
import type { Tx } from '#shared/database.ts';
import { either, toRecords } from '#shared/sql.ts';

/** Every write of an item is fenced: it changes nothing once the lease belongs to another. */
export const IS_MINE = `id = @event AND lease_token = @lease AND outcome = 'PENDING'`;

const FIND_MINE = `SELECT 1 FROM event WHERE ${IS_MINE}`;

const LEASES = `
  SELECT id AS event, lease_token AS lease, again FROM event
  WHERE id = ANY(@events::bigint[]) AND outcome = 'PENDING'`;

const STEP = either('given.step', 'json(given.step)');

const KEEP = `
  UPDATE event SET progress = given.progress, lead_ids = given.lead_ids, due_at = given.due_at,
    attempts = given.attempts, last_error = NULL, note = coalesce(given.note, event.note),
    lease_token = NULL, lease_until = NULL,
    history = CASE WHEN given.step IS NULL THEN history ELSE ${withStep(STEP)} END
  FROM jsonb_to_recordset(@matches)
    AS given (event bigint, progress jsonb, lead_ids jsonb, due_at bigint, attempts integer, note text, step jsonb)
  WHERE event.id = given.event`;

/** What is DONE or IGNORED needs its payload no more; the others can be replayed for 30 days. */
const SETTLE = `
  UPDATE event SET outcome = @outcome::text, erasure = @erasure, note = coalesce(@note, note),
    attempts = @attempts, last_error = @lastError, completed_at = @now, due_at = NULL,
    lease_token = NULL, lease_until = NULL, progress = NULL,
    payload = CASE WHEN @outcome::text IN ('DONE', 'IGNORED') THEN NULL ELSE payload END
  WHERE ${IS_MINE}
  RETURNING receipt`;

/** What a write needs of the item that it is about. */
type LeasedEvent = Pick<WorkItem, 'event' | 'receiptId' | 'path' | 'lease'>;

/** What a statement needs of an item to be fenced; the payload stays where it is. */
export function leaseOf({
  event,
  lease,
}: Pick<WorkItem, 'event' | 'lease'>): Pick<WorkItem, 'event' | 'lease'> {
  return { event, lease };
}

export async function isMine(session: Tx, item: LeasedEvent): Promise<boolean> {
  return (await session.get(FIND_MINE, leaseOf(item))) !== undefined;
}

/** A match that is to be kept: for now, or for good with what is to be done. */
export type FoundMatch = { match: Pick<Match, 'leads' | 'conflicts'> } & (
  | { next: NextLook; plan?: undefined }
  | { plan: Todo & { now: number }; next?: undefined }
);

export type NewMatch = FoundMatch & { item: LeasedEvent };

/** Until the match is certain: when it is looked at again, and with what progress. */
type NextLook = {
  progress: MatchProgress;
  dueAt: number;
  attempts: number;
  now: number;
  /** For its history. */
  step?: EventStep;
};

/**
 * Keeps matches in a few statements, however many they are. Leads are claimed for a deletion, and those in conflict
 * taken back; for good, with a `plan`, also what was claimed before the match was certain and is not among them. Each
 * withdrawal has a line in the audit log. The items are given back, with a `plan` due at once for their actions.
 * Returns the leads that each event holds, undefined for one whose lease is lost. `repository` is `owner/name` in
 * lower case, here and below.
 */
export async function keepMatches(
  session: Tx,
  repository: string,
  matches: readonly NewMatch[],
): Promise<(readonly number[] | undefined)[]> {
  const events = matches.map(({ item }) => item.event);
  const [leases, repositoryId] = await Promise.all([
    session.all<{ event: number; lease?: string; again: number }>(LEASES, { events }),
    readRepositoryId(session, repository),
  ]);
  const known = new Map(leases.map((one) => [one.event, one]));
  const ours = matches.filter(({ item }) => known.get(item.event)?.lease === item.lease);
  const deletions = ours.filter(({ item }) => item.path === 'deletions');
  const held = await claimMatches(session, repositoryId, deletions);
  const leadsOf = ({ item, match }: NewMatch): readonly number[] =>
    item.path === 'deletions' ? (held.get(item.event) ?? []) : match.leads;
  const rows = ours.map((one) => toRow({ ...one, leads: leadsOf(one), repositoryId }));
  if (rows.length > 0) void session.run(KEEP, { matches: toRecords(rows) });
  for (const { item } of ours)
    if ((known.get(item.event)?.again ?? 0) > 0) void session.run(REQUEUE_REPEATED, leaseOf(item));
  return matches.map((one) => (ours.includes(one) ? leadsOf(one) : undefined));
}

/** Claims what deletions name, takes back what they do not, and answers what each event holds then. */
async function claimMatches(
  session: Tx,
  repositoryId: number | undefined,
  deletions: readonly NewMatch[],
): Promise<Map<number, number[]>> {
  if (repositoryId === undefined) return new Map();
  const orders = deletions.map(({ item, match, next, plan }) => ({
    order: { repositoryId, receiptId: item.receiptId, event: item.event, numbers: match.leads },
    conflicts: match.conflicts,
    isForGood: plan !== undefined,
    now: (next ?? plan).now,
  }));
  await insertClaims(
    session,
    orders.flatMap(({ order, now }) => claimsOf(order, now)),
  );
  for (const { order, conflicts, isForGood, now } of orders) {
    if (isForGood) confirmClaims(session, order);
    await withdraw(session, { ...order, numbers: conflicts }, { reason: CONFLICT, now });
  }
  const forGood = orders.filter(({ isForGood }) => isForGood);
  const left = await provisionalClaims(session, repositoryId, eventsOf(forGood));
  for (const { order, now } of forGood) {
    const numbers = left.get(order.event) ?? [];
    await withdraw(session, { ...order, numbers }, { reason: 'better-match', now });
  }
  return claimsHeld(session, repositoryId, eventsOf(orders));
}

function eventsOf(orders: readonly { order: ClaimOrder }[]): number[] {
  return orders.map(({ order }) => order.event);
}

/**
 * Ends the event; with DONE or IGNORED its payload is dropped, and with UNMATCHED every claim that no match has
 * confirmed is taken back. An event that came again meanwhile is matched anew at once instead, and so it is whenever it
 * is given back.
 */
export async function settle(
  session: Tx,
  repository: string,
  item: LeasedEvent,
  settlement: Settlement & { now: number },
): Promise<SettleResult> {
  const { event } = item;
  const { outcome, attempts, erasure, note, lastError, now } = settlement;
  if ((await session.run(REQUEUE_REPEATED, leaseOf(item))) > 0) return 'again';
  const row = { ...leaseOf(item), outcome, attempts, erasure, note, lastError, now };
  const settled = await session.get<{ receipt: number }>(SETTLE, row);
  if (!settled) return 'lost';
  const order =
    outcome === 'UNMATCHED' && (await orderOf(session, repository, { item, numbers: [] }));
  if (order && (await withdrawAll(session, order, { reason: 'unmatched', now })))
    await session.run(SET_LEADS, {
      event,
      leadIds: toLeadIds(await claimedLeads(session, repository, event)),
    });
  void session.run(REFRESH_RECEIPT_STATUS, { receipts: [settled.receipt] });
  return 'settled';
}

/** Tells operators how an event has ended. `issues` are those that something is still to be done about. */
export function reportEnd(
  { reporter }: { reporter: Pick<OutcomeReporter, 'settled'> },
  { receiptId, partnerId, path }: WorkItem,
  { outcome, lastError: code }: Settlement,
  issues: readonly number[] = [],
): void {
  reporter.settled({ receiptId, partnerId, path, outcome, code, issues });
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
  session: Tx,
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
  session: Tx,
  order: ClaimOrder,
  why: { reason: string; now: number },
): Promise<boolean> {
  const { repositoryId, event } = order;
  const numbers = (await provisionalClaims(session, repositoryId, [event])).get(event) ?? [];
  await withdraw(session, { ...order, numbers }, why);
  return numbers.length > 0;
}

/** Undefined while the store does not know which repository the configured name means. */
async function orderOf(
  session: Tx,
  repository: string,
  { item, numbers }: { item: LeasedEvent; numbers: readonly number[] },
): Promise<ClaimOrder | undefined> {
  const repositoryId = await readRepositoryId(session, repository);
  const { event, receiptId } = item;
  return repositoryId === undefined ? undefined : { repositoryId, receiptId, event, numbers };
}

function toRow(
  one: NewMatch & { leads: readonly number[]; repositoryId: number | undefined },
): object {
  const { item, match, leads } = one;
  const { progress, dueAt, attempts, step } = one.plan ? beginActing(one.plan, one) : one.next;
  const leadIds = leads.length > 0 ? leads.map(String) : undefined;
  return { event: item.event, progress, leadIds, dueAt, attempts, note: noteOf(match), step };
}

function beginActing(
  { now, ...plan }: Todo & { now: number },
  { leads, repositoryId }: { leads: readonly number[]; repositoryId: number | undefined },
): { progress: ActProgress; dueAt: number; attempts: number; step: EventStep } {
  const { effect } = plan;
  const todo: Todo =
    effect && repositoryId !== undefined ? { ...plan, effect: { ...effect, repositoryId } } : plan;
  const progress: ActProgress = {
    stage: 'act',
    ...todo,
    leads: leads.map((number) => ({ number, state: 'open' })),
  };
  const step: EventStep = { at: now, what: 'matched', ...(effect && { effect: shown(effect) }) };
  return { progress, dueAt: now, attempts: 0, step };
}

/** Only leads of the repository that the configured name means now: others must not be touched. */
export async function claimedLeads(
  session: Tx,
  repository: string,
  event: number,
): Promise<number[]> {
  const repositoryId = await readRepositoryId(session, repository);
  return repositoryId === undefined ? [] : claimedBy(session, { repositoryId, event });
}
