import type { Match } from '#leads/directory/match.ts';
import type { WorkItem } from '../work-item.ts';
import type { ActProgress, Effect, MatchProgress, Todo } from '../../receipts/event-progress.ts';
import { toReported, settle, type Settlement } from '../settle-event.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import {
  type EventErrorCode,
  type EventNote,
  type EventStep,
  isDeletion,
  type RuleEffect,
} from '../../receipts/receipt.ts';
import { leaseOf } from '../lease-events.ts';
import {
  type ClaimOrder,
  claimsOf,
  confirmClaims,
  claimsHeld,
  leadIdsOf,
  insertClaims,
  withdrawClaims,
} from '#leads/claims/claim-leads.ts';
import { REQUEUE_REPEATED, withStep } from '../../receipts/event-changes.ts';
import { readRepositoryId, type StoredRepositoryName } from '#leads/lead-store.ts';
import type { Clock } from '#shared/clock.ts';
import { type Database, send, type Tx } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { either, toRecords } from '#shared/sql.ts';

/** By number: SQLite would read all events that wait, by the index that has their outcome. */
const LEASES = `
  SELECT id AS event, lease_token, again FROM event
  WHERE id = ANY(@events::bigint[]) AND /*sqlite +*/outcome = 'PENDING'`;

const STEP = either('given.step', 'json(given.step)');

/** With `progress` the stage and the rank of an event change, which are generated columns. */
const KEEP = `
  UPDATE event SET progress = given.progress, lead_ids = given.lead_ids, due_at = given.due_at,
    attempts = given.attempts, last_error = NULL, note = coalesce(given.note, event.note),
    lease_token = NULL, lease_until = NULL,
    history = CASE WHEN given.step IS NULL THEN history ELSE ${withStep(STEP)} END
  FROM jsonb_to_recordset(@matches)
    AS given (event bigint, progress jsonb, lead_ids jsonb, due_at bigint, attempts integer, note text, step jsonb)
  WHERE event.id = given.event`;

/** A match that is to be kept: for now, or for good with what is to be done. */
type FoundMatch = { match: Pick<Match, 'leads' | 'conflicts'> } & (
  | { next: NextLook; plan?: undefined }
  | { plan: Todo & { now: number }; next?: undefined }
);

export type NewMatch = FoundMatch & {
  item: Pick<WorkItem, 'event' | 'receiptId' | 'path' | 'leaseToken'>;
};

/** The next look at a match that is not certain. */
type NextLook = {
  progress: MatchProgress;
  dueAt: number;
  attempts: number;
  now: number;
  /** For its history. */
  step?: EventStep;
};

/** Outcome of a match that is written: its leads are kept, or the event ends. */
export type MatchChange =
  | { kind: 'keep'; found: FoundMatch; miss?: { attempts: number; nextAt: number } }
  | { kind: 'end'; settlement: Settlement };

type Change = MatchChange & { item: WorkItem };

/** The store that changes go to, and whoever is told of them. */
type ChangeTarget = {
  db: Database;
  repository: StoredRepositoryName;
  clock: Clock;
  log: Log;
  reporter: OutcomeReporter;
};

/** In the log, for a look that found nobody. */
const NO_LEAD = 'no-lead-found';

/** Writes changes in one transaction; when it fails for a reason of one of them, each in its own. */
export async function writeChanges(
  target: ChangeTarget,
  changes: readonly Change[],
): Promise<void> {
  const [first, ...others] = changes;
  if (!first) return;
  try {
    await commitAll(target, changes);
  } catch (error) {
    if (isTrackportError(error)) throw error;
    if (others.length > 0) for (const change of changes) await writeChanges(target, [change]);
    else await commitAll(target, [{ item: first.item, ...failedMatch(target, first.item, error) }]);
  }
}

async function commitAll(
  { db, repository, clock, reporter }: ChangeTarget,
  changes: readonly Change[],
): Promise<void> {
  const keeping = changes.filter((change) => change.kind === 'keep');
  const ending = changes.filter((change) => change.kind === 'end');
  const matches = keeping.map(({ item, found }): NewMatch => ({ item, ...found }));
  const { held, ends } = await db.exclusive(async (tx) => {
    const held = matches.length > 0 ? await keepMatches(tx, repository, matches) : [];
    const now = clock.now();
    const ends = await Promise.all(
      ending.map(({ item, settlement }) => settle(tx, repository, item, { ...settlement, now })),
    );
    return { held, ends };
  });
  for (const [place, { item, miss }] of keeping.entries()) {
    const { receiptId, partnerId } = item;
    if (miss && held[place])
      reporter.attemptFailed({ receiptId, partnerId, code: NO_LEAD, ...miss });
  }
  for (const [place, { item, settlement }] of ending.entries())
    if (ends[place] === 'settled') reporter.settled(toReported(item, settlement));
}

/** Ends an event whose match met a mistake of ours. */
export function failedMatch(
  { log }: { log: Log },
  item: WorkItem,
  error: unknown,
): Extract<MatchChange, { kind: 'end' }> {
  log.error({ receiptId: item.receiptId, ...errorFields(error) }, 'a match met a mistake of ours');
  return endFailed(item, 'internal-error');
}

export function endFailed(
  item: WorkItem,
  lastError: EventErrorCode,
): Extract<MatchChange, { kind: 'end' }> {
  return { kind: 'end', settlement: { outcome: 'FAILED', attempts: item.attempts + 1, lastError } };
}

/**
 * Keeps matches in a few statements, however many they are. Leads are claimed for a deletion, and those in conflict
 * taken back; for good, with a `plan`, also what was claimed before the match was certain and is not among them. Of one
 * that came again meanwhile nothing is taken back: what that claimed this match knows nothing of, and the next decides.
 * Each withdrawal has a line in the audit log. The items are given back, with a `plan` due at once for their actions.
 * Returns the leads that each event holds, undefined for one whose lease is lost.
 */
export async function keepMatches(
  tx: Tx,
  repository: StoredRepositoryName,
  matches: readonly NewMatch[],
): Promise<(readonly number[] | undefined)[]> {
  const events = matches.map(({ item }) => item.event);
  const [leases, repositoryId] = await Promise.all([
    tx.all<{ event: number; leaseToken?: string; again: number }>(LEASES, { events }),
    readRepositoryId(tx, repository),
  ]);
  const known = new Map(leases.map((one) => [one.event, one]));
  const ours = matches.filter(({ item }) => known.get(item.event)?.leaseToken === item.leaseToken);
  const deletions = ours.filter(({ item }) => isDeletion(item));
  const isRepeated = (event: number): boolean => (known.get(event)?.again ?? 0) > 0;
  const held = await claimMatches(tx, repositoryId, deletions, isRepeated);
  const leadsOf = ({ item, match }: NewMatch): readonly number[] =>
    isDeletion(item) ? (held.get(item.event) ?? []) : match.leads;
  const rows = ours.map((one) => toRow({ ...one, leads: leadsOf(one), repositoryId }));
  if (rows.length > 0) send(tx, KEEP, { matches: toRecords(rows) });
  for (const { item } of ours)
    if (isRepeated(item.event)) send(tx, REQUEUE_REPEATED, leaseOf(item));
  return matches.map((one) => (ours.includes(one) ? leadsOf(one) : undefined));
}

/** Claims what deletions name, takes back what they do not, and answers what each event holds then. */
async function claimMatches(
  tx: Tx,
  repositoryId: number | undefined,
  deletions: readonly NewMatch[],
  isRepeated: (event: number) => boolean,
): Promise<Map<number, number[]>> {
  if (repositoryId === undefined) return new Map();
  const orders = deletions.map(({ item, match, next, plan }) => ({
    order: { repositoryId, receiptId: item.receiptId, event: item.event, numbers: match.leads },
    conflicts: match.conflicts,
    isForGood: plan !== undefined,
    now: (next ?? plan).now,
  }));
  const claims = orders.flatMap(({ order, now }) => claimsOf(order, now));
  await insertClaims(tx, { repositoryId, claims });
  for (const { order, conflicts, isForGood, now } of orders) {
    if (isForGood) confirmClaims(tx, order);
    if (isRepeated(order.event)) continue;
    await withdrawClaims(tx, { ...order, numbers: conflicts }, { reason: CONFLICT, now });
  }
  const forGood = orders.filter(({ order, isForGood }) => isForGood && !isRepeated(order.event));
  const events = eventsOf(forGood);
  const left = await claimsHeld(tx, { repositoryId, events, isProvisional: true });
  for (const { order, now } of forGood) {
    const numbers = left.get(order.event) ?? [];
    await withdrawClaims(tx, { ...order, numbers }, { reason: 'better-match', now });
  }
  return claimsHeld(tx, { repositoryId, events: eventsOf(orders) });
}

function eventsOf(orders: readonly { order: ClaimOrder }[]): number[] {
  return orders.map(({ order }) => order.event);
}

function toRuleEffect({ comment, repositoryId: _repositoryId, ...effect }: Effect): RuleEffect {
  return { ...effect, comments: comment !== undefined };
}

export const CONFLICT: EventNote = 'lead-id-conflict';

function toRow(
  one: NewMatch & { leads: readonly number[]; repositoryId: number | undefined },
): object {
  const { item, match, leads } = one;
  const { progress, dueAt, attempts, step } = one.plan ? beginActing(one.plan, one) : one.next;
  const leadIds = leadIdsOf(leads);
  const note = match.conflicts.length > 0 ? CONFLICT : undefined;
  return { event: item.event, progress, leadIds, dueAt, attempts, note, step };
}

/** Progress that moves an event to the stage of acting. */
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
  const step: EventStep = {
    at: now,
    what: 'matched',
    ...(effect && { effect: toRuleEffect(effect) }),
  };
  return { progress, dueAt: now, attempts: 0, step };
}
