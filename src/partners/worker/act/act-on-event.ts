import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing.ts';
import {
  type BackoffSchedule,
  jitteredWaitMsAfter,
  type Random,
} from '#shared/resilience/backoff.ts';
import { actOnLead, type Delay, type LeadWriter, type LeadTask } from './act-on-lead.ts';
import { type DeletionLabels, leastErasure } from './issue-edit.ts';
import { traceStep, type WorkItem } from '../work-item.ts';
import type { ActProgress, LeadProgress } from '../../receipts/event-progress.ts';
import { toReported, settle, type Settlement } from '../settle-event.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import {
  createLeasedLeads,
  type LeasedLeads,
  LeaseLost,
  Overtaken,
  hasLeadsElsewhere,
  createOwnComment,
} from '../held-leads.ts';
import type { Pacer, WriteRefusals } from '../may-write.ts';
import { type EventErrorCode, isDeletion, remainders } from '../../receipts/receipt.ts';
import { giveBack, reschedule } from '../lease-events.ts';
import type { Database } from '#shared/database.ts';

/** Rules of the configuration for deletions. */
export type DeletionRules = {
  labels: DeletionLabels;
  /** After the last wait the event ends FAILED. */
  retryMs: BackoffSchedule;
};

/** Store and tracker on which the worker acts. */
export type Acting = Omit<LeadWriter, 'labels'> & {
  db: Database;
  repository: StoredRepositoryName;
  /** Those in force; read once for each event. */
  rules: () => DeletionRules;
  pacer: Pacer;
  refusals: WriteRefusals;
  reporter: OutcomeReporter;
  random: Random;
  tracing?: Tracing;
};

/** One attempt at an event, by the rules in force when it begins. */
type Attempt = Acting & DeletionRules;

/** End or delay of an event, as far as all others are concerned. */
export type ActResult =
  | { kind: 'settled'; outcome: Settlement['outcome'] }
  | { kind: 'rescheduled' }
  | Extract<Delay, { kind: 'limited' | 'paused' }>
  /** Another worker has it, this one stops, or a deletion goes first. */
  | { kind: 'left' };

type BegunItem = WorkItem & { progress: ActProgress };

/**
 * Changes the issues of one event's leads. Every lead that can be finished is, whatever becomes of
 * the others. @throws {store-unavailable}
 */
export function actOnEvent(
  acting: Acting,
  item: WorkItem<ActProgress>,
  signal: AbortSignal,
): Promise<ActResult> {
  return traceStep(acting.tracing, 'act on', item, async (span) => {
    const result = await act(acting, item, signal);
    span?.set({ 'trackport.result': result.kind === 'settled' ? result.outcome : result.kind });
    return result;
  });
}

async function act(
  acting: Acting,
  item: WorkItem<ActProgress>,
  signal: AbortSignal,
): Promise<ActResult> {
  const { db, log } = acting;
  const { progress } = item;
  if (!progress) return matchAnew(acting, item);
  const attempt = { ...acting, ...acting.rules() };
  const begun = { ...item, progress };
  const leads = createLeasedLeads(attempt, begun, signal);
  try {
    return await actOnLeads(attempt, begun, leads, signal);
  } catch (error) {
    if (error instanceof LeaseLost) return { kind: 'left' };
    if (signal.aborted || error instanceof Overtaken) {
      await giveBack(db, item);
      return { kind: 'left' };
    }
    if (isTrackportError(error)) throw error;
    log.error(
      { receiptId: item.receiptId, ...errorFields(error) },
      'an action met a mistake of ours',
    );
    return retry(attempt, item, { leads: leads.all(), lastError: 'internal-error' });
  }
}

/** Another version wrote a progress that this one cannot read. */
async function matchAnew({ db, clock }: Acting, item: WorkItem): Promise<ActResult> {
  const now = clock.now();
  const progress = { stage: 'match', askedAt: now, misses: 0 } as const;
  await reschedule(db, item, { dueAt: now, attempts: 0, progress });
  return { kind: 'rescheduled' };
}

async function actOnLeads(
  attempt: Attempt,
  item: BegunItem,
  leads: LeasedLeads,
  signal: AbortSignal,
): Promise<ActResult> {
  const { receiptId, progress } = item;
  const isLastTry = item.attempts >= attempt.retryMs.length;
  const open = progress.leads.filter(({ state }) => state === 'open');
  const delays: Delay[] = [];
  for (const lead of open) {
    const { actions, effect } = progress;
    const ownComment = createOwnComment(attempt.db, item, lead.number);
    const task = { receiptId, actions, effect, lead, isLastTry, ownComment };
    const delay = await actAndNote(attempt, leads, task);
    if (delay) delays.push(delay);
    const isAllDone = lead === open.at(-1) && delays.length === 0;
    if (!isAllDone) await leads.save(); // else it is settled at once
    if (delay?.kind === 'limited' || delay?.kind === 'paused')
      return delayAll(attempt, item, delay);
  }
  if (delays.length === 0) return endByLeads(attempt, item, leads.all());
  signal.throwIfAborted(); // calls were cut short: that is no try
  return delayEvent(attempt, item, { leads: leads.all(), delays });
}

/** Acts on one lead and notes what came of it; undefined when nothing is left to be done to it. */
async function actAndNote(
  attempt: Attempt,
  leads: LeasedLeads,
  task: Omit<LeadTask, 'turn' | 'keep'>,
): Promise<Delay | undefined> {
  const { number } = task.lead;
  const { lead, delay } = await actOnLead(attempt, {
    ...task,
    turn: () => leads.turn(number),
    keep: (changed) => {
      leads.note(changed);
      return leads.save();
    },
  });
  if (lead) leads.note(lead);
  else leads.drop(number);
  return delay && classifyForbidden(attempt, number, delay);
}

/** A 403 is this one issue's own, and the repository's after several issues in a row. */
function classifyForbidden({ refusals }: Acting, number: number, delay: Delay): Delay {
  if (delay.kind !== 'forbidden') return delay;
  const kind = refusals.noteRefusal(number) ? 'paused' : 'transient';
  return { kind, code: 'forbidden' };
}

/** Waiting for the tracker spends no try. */
async function delayAll(
  { db, clock }: Acting,
  item: WorkItem,
  delay: Extract<Delay, { kind: 'limited' | 'paused' }>,
): Promise<ActResult> {
  const isLimited = delay.kind === 'limited';
  await reschedule(db, item, {
    dueAt: isLimited ? delay.retryAt : clock.now(),
    attempts: item.attempts,
    lastError: isLimited ? 'tracker-limited' : delay.code,
  });
  return delay;
}

type Unfinished = { leads: readonly LeadProgress[]; delays: readonly Delay[] };

/** A failed attempt counts before mere waiting, and nothing but that spends a try. */
async function delayEvent(
  attempt: Attempt,
  item: WorkItem,
  { leads, delays }: Unfinished,
): Promise<ActResult> {
  const failure = delays.find((delay) => delay.kind === 'transient');
  if (failure) return retry(attempt, item, { leads, lastError: failure.code });
  const instants = delays.flatMap((delay) => ('retryAt' in delay ? [delay.retryAt] : []));
  await reschedule(attempt.db, item, {
    dueAt: Math.min(...instants),
    attempts: item.attempts,
    ...(delays.some(({ kind }) => kind === 'missing') && { lastError: 'not-found' }),
  });
  return { kind: 'rescheduled' };
}

async function retry(
  attempt: Attempt,
  item: WorkItem,
  { leads, lastError }: { leads: readonly LeadProgress[]; lastError: EventErrorCode },
): Promise<ActResult> {
  const attempts = item.attempts + 1;
  const now = attempt.clock.now();
  const wait = jitteredWaitMsAfter(attempt.retryMs, attempts, attempt.random);
  if (wait === undefined) return endFailed(attempt, item, leads, { lastError, attempts });
  const nextAt = now + wait;
  const step = { at: now, what: 'failed', code: lastError } as const;
  if (await reschedule(attempt.db, item, { dueAt: nextAt, attempts, lastError, step })) {
    const { receiptId, partnerId } = item;
    attempt.reporter.attemptFailed({ receiptId, partnerId, code: lastError, attempts, nextAt });
  }
  return { kind: 'rescheduled' };
}

async function endByLeads(
  acting: Acting,
  item: WorkItem,
  leads: readonly LeadProgress[],
): Promise<ActResult> {
  const attempts = item.attempts + 1;
  const error = leads.find(({ state }) => state === 'failed')?.error;
  if (error !== undefined) return endFailed(acting, item, leads, { lastError: error, attempts });
  if (leads.length === 0) return endWithoutLeads(acting, item, attempts);
  const leftFields = leads.some(({ fieldsRemain }) => fieldsRemain);
  return end(acting, item, {
    outcome: 'DONE',
    ...erasureOfAll(leads),
    ...(leftFields && { lastError: 'fields-remain' }),
    attempts,
  });
}

async function endWithoutLeads(
  acting: Acting,
  item: WorkItem,
  attempts: number,
): Promise<ActResult> {
  if (await hasLeadsElsewhere(acting, item))
    return end(acting, item, { outcome: 'FAILED', lastError: 'repository-changed', attempts });
  if (isDeletion(item))
    return end(acting, item, { outcome: 'UNMATCHED', lastError: 'claim-released', attempts });
  return end(acting, item, { outcome: 'IGNORED', lastError: 'lead-claimed', attempts });
}

function endFailed(
  acting: Acting,
  item: WorkItem,
  leads: readonly LeadProgress[],
  why: { lastError: EventErrorCode; attempts: number },
): Promise<ActResult> {
  const settlement: Settlement = { outcome: 'FAILED', ...why, ...erasureOfAll(leads) };
  const issues = leads.filter(({ state }) => state !== 'done').map(({ number }) => number);
  return end(acting, item, settlement, issues);
}

/** Nothing is complete while one of the leads is not known to be. */
function erasureOfAll(leads: readonly LeadProgress[]): Pick<Settlement, 'erasure' | 'remains'> {
  const erasure = leastErasure(leads.map((lead) => lead.erasure));
  const isOverstated = erasure === 'complete' && leads.some((lead) => !lead.erasure);
  const left = new Set(leads.flatMap(({ remains = [] }) => remains));
  const remains = remainders.filter((one) => left.has(one));
  return {
    ...(!isOverstated && { erasure }),
    ...(remains.length > 0 && { remains }),
  };
}

async function end(
  acting: Acting,
  item: WorkItem,
  settlement: Settlement,
  issues: readonly number[] = [],
): Promise<ActResult> {
  const { db, repository, clock } = acting;
  const end = { ...settlement, now: clock.now() };
  const result = await db.exclusive((tx) => settle(tx, repository, item, end));
  if (result === 'lost') return { kind: 'left' };
  if (result === 'again') return { kind: 'rescheduled' };
  acting.reporter.settled({ ...toReported(item, settlement), issues });
  return { kind: 'settled', outcome: settlement.outcome };
}
