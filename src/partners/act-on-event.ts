import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import { actOnLead, type Delay, type LeadDeps } from './act-on-lead.ts';
import { leastErasure } from './deletion.ts';
import type { ActProgress, LeadProgress } from './deletion-progress.ts';
import { endEvent } from './end-event.ts';
import { waitAfterFailure, type Random } from './retry-schedule.ts';
import type { Settlement, WorkItem, WorkStore } from './work-store.ts';

export type ActDeps = LeadDeps & {
  store: Pick<
    WorkStore,
    'held' | 'holdsElsewhere' | 'saveProgress' | 'reschedule' | 'settle' | 'giveBack'
  >;
  clock: Clock;
  random: Random;
  /** Waits between tries, in ms; after the last one the event ends FAILED. */
  retryMs: readonly number[];
};

/** What the event's end, or its delay, means for all others. */
export type ActResult =
  | { kind: 'settled'; outcome: Settlement['outcome'] }
  | { kind: 'rescheduled' }
  | Extract<Delay, { kind: 'limited' | 'paused' }>
  /** Another worker has it, or this one stops. */
  | { kind: 'left' };

type BegunItem = WorkItem & { progress: ActProgress };

class LeaseLost extends Error {}

/**
 * Changes the issues of one event's leads. Every lead that can be finished is, whatever becomes of
 * the others. @throws {store-unavailable}
 */
export async function actOnEvent(
  deps: ActDeps,
  item: WorkItem<ActProgress>,
  signal: AbortSignal,
): Promise<ActResult> {
  const { log, store } = deps;
  const { progress } = item;
  if (!progress) return matchAnew(deps, item);
  try {
    return await actOnLeads(deps, { ...item, progress }, signal);
  } catch (error) {
    if (error instanceof LeaseLost) return { kind: 'left' };
    if (signal.aborted) {
      await store.giveBack(item);
      return { kind: 'left' };
    }
    if (isTrackportError(error)) throw error;
    log.error(
      { receiptId: item.receiptId, ...errorFields(error) },
      'an action met a mistake of ours',
    );
    return retry(deps, item, { leads: progress.leads, lastError: 'internal-error' });
  }
}

/** Another version wrote a progress that this one cannot read. */
async function matchAnew({ store, clock }: ActDeps, item: WorkItem): Promise<ActResult> {
  const now = clock.now();
  const progress = { stage: 'match', askedAt: now, misses: 0 } as const;
  await store.reschedule(item, { dueAt: now, attempts: 0, progress });
  return { kind: 'rescheduled' };
}

async function actOnLeads(deps: ActDeps, item: BegunItem, signal: AbortSignal): Promise<ActResult> {
  const { actions } = item.progress;
  let { leads } = item.progress;
  let transient: string | undefined;
  const keep = async (changed: LeadProgress): Promise<void> => {
    leads = leads.map((lead) => (lead.number === changed.number ? changed : lead));
    const progress: ActProgress = { stage: 'act', actions, leads };
    if (!(await deps.store.saveProgress(item, progress, deps.clock.now()))) throw new LeaseLost();
  };
  for (const lead of leads.filter(({ state }) => state === 'open')) {
    // An operator may have given the lead back a moment ago: then nothing more is done to it.
    if (!(await deps.store.held(item)).includes(lead.number)) {
      leads = leads.filter(({ number }) => number !== lead.number);
      continue;
    }
    const task = { receiptId: item.receiptId, actions, lead, keep, signal };
    const { lead: changed, delay } = await actOnLead(deps, task);
    await keep(changed);
    if (delay?.kind === 'transient') transient ??= delay.code;
    else if (delay) return delayAll(deps, item, delay);
  }
  if (transient === undefined) return settle(deps, item, leads);
  signal.throwIfAborted(); // calls were cut short: that is no try
  return retry(deps, item, { leads, lastError: transient });
}

/** Waiting for the tracker spends no try. */
async function delayAll(
  { store, clock }: ActDeps,
  item: WorkItem,
  delay: Extract<Delay, { kind: 'limited' | 'paused' }>,
): Promise<ActResult> {
  const isLimited = delay.kind === 'limited';
  await store.reschedule(item, {
    dueAt: isLimited ? delay.retryAt : clock.now(),
    attempts: item.attempts,
    lastError: isLimited ? 'tracker-limited' : delay.code,
  });
  return delay;
}

async function retry(
  deps: ActDeps,
  item: WorkItem,
  { leads, lastError }: { leads: readonly LeadProgress[]; lastError: string },
): Promise<ActResult> {
  const attempts = item.attempts + 1;
  const now = deps.clock.now();
  const wait = waitAfterFailure(deps.retryMs, attempts, deps.random);
  if (wait === undefined) return end(deps, item, { ...failedWith(leads, lastError), attempts });
  await deps.store.reschedule(item, { dueAt: now + wait, attempts, lastError });
  return { kind: 'rescheduled' };
}

async function settle(
  deps: ActDeps,
  item: WorkItem,
  leads: readonly LeadProgress[],
): Promise<ActResult> {
  const attempts = item.attempts + 1;
  const error = leads.find(({ state }) => state === 'failed')?.error;
  if (error !== undefined) return end(deps, item, { ...failedWith(leads, error), attempts });
  if (leads.length === 0) return endWithoutLeads(deps, item, attempts);
  return end(deps, item, { outcome: 'DONE', ...erasureOf(leads), attempts });
}

async function endWithoutLeads(
  deps: ActDeps,
  item: WorkItem,
  attempts: number,
): Promise<ActResult> {
  const settlement: Settlement = (await deps.store.holdsElsewhere(item))
    ? { outcome: 'FAILED', lastError: 'repository-changed', attempts }
    : { outcome: 'UNMATCHED', lastError: 'claim-released', attempts };
  return end(deps, item, settlement);
}

function failedWith(leads: readonly LeadProgress[], lastError: string) {
  return { outcome: 'FAILED', lastError, ...erasureOf(leads) } as const;
}

function erasureOf(leads: readonly LeadProgress[]): Pick<Settlement, 'erasure'> {
  const erasure = leastErasure(leads.map((lead) => lead.erasure));
  return erasure === undefined ? {} : { erasure };
}

async function end(deps: ActDeps, item: WorkItem, settlement: Settlement): Promise<ActResult> {
  const isSettled = await endEvent(deps, item, settlement);
  return isSettled ? { kind: 'settled', outcome: settlement.outcome } : { kind: 'left' };
}
