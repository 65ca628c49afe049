import { setImmediate } from 'node:timers/promises';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { DirectoryCoverage, Coverage } from '../catch-up.ts';
import type { MatchProgress, Todo } from '../progress.ts';
import {
  findLead,
  MATCH_WAIT_MS,
  matchByNumber,
  type MatchByNumberDeps,
  NO_LEADS,
} from './match-by-number.ts';
import { progressOf, readRequest } from './read-request.ts';
import type { Match, MatchName } from '#leads/directory/match.ts';
import type { PartnerList } from '../../partner.ts';
import type { ReadDelivery } from '../../intake/read-delivery.ts';
import type { EventErrorCode } from '../../receipts/receipt.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import {
  endEvent,
  traceStep,
  type Settlement,
  type WorkItem,
  type WorkStore,
} from '../work-store.ts';

/** Waits before an event that matched nothing is tried again: replicas lag. Then it is UNMATCHED. */
export const UNMATCHED_WAITS_MS: readonly number[] = [MINUTE];

/** How soon an event asks again whose catch-up takes longer. */
const ASK_AGAIN_MS = SECOND / 2;
/** How soon a large payload is read again for which there was no room. */
const READ_AGAIN_MS = 5 * SECOND;
/** While the first crawl runs, or the partner is unknown: half as long again as it has waited, within bounds. */
const WAIT_MIN_MS = SECOND / 10;
const CRAWL_WAIT_MAX_MS = 15 * SECOND;
const PARTNER_WAIT_MAX_MS = MINUTE;

/** In the log, for a look that found nobody. */
const NO_LEAD = 'no-lead-found';

/** So many share a commit, for 500 of one batch are to be claimed within a second as well. */
const MATCHED_AT_ONCE = 20;

export type MatchDeps = MatchByNumberDeps & {
  store: Pick<
    WorkStore,
    'match' | 'claim' | 'confirm' | 'leadsOf' | 'hasLeadsElsewhere' | 'postpone' | 'settle'
  >;
  directory: DirectoryCoverage;
  /** The sub-key for directory hashes. */
  directoryKey: Buffer;
  partners: Pick<PartnerList, 'all'>;
  readDelivery: ReadDelivery;
  clock: Clock;
  log: Log;
  reporter: OutcomeReporter;
  unmatchedWaitsMs: readonly number[];
  tracing?: Tracing;
};

/**
 * Matches events with leads and claims what they name. All are served by one catch-up; what the
 * directory knows already is claimed even when the tracker does not respond.
 * @throws {store-unavailable}
 */
export async function matchEvents(deps: MatchDeps, items: readonly WorkItem[]): Promise<void> {
  const now = deps.clock.now();
  const waiting = items.map((item) => ({ item, progress: progressOf(item, now) }));
  const newest = Math.max(...waiting.map(({ progress }) => progress.askedAt));
  const since = Math.min(...waiting.map(({ progress }) => progress.missedSince ?? Infinity));
  const coverage = await deps.directory.cover(newest, MATCH_WAIT_MS, since);
  const postponed: Postponed[] = [];
  for (let at = 0; at < waiting.length; at += MATCHED_AT_ONCE) {
    const matched = waiting.slice(at, at + MATCHED_AT_ONCE).map(async ({ item, progress }) => {
      const later = await matchOrFail(deps, { item, progress }, coverage);
      if (later) postponed.push({ item, ...later });
    });
    await Promise.all(matched);
    await setImmediate(); // commits wait for the disk: between them the service goes on
  }
  // In one commit: while the tracker is down every event that waits comes by here again and again.
  if (postponed.length > 0) await deps.store.postpone(postponed);
}

/** A mistake of ours about one event must not keep all others from being claimed. */
async function matchOrFail(
  deps: MatchDeps,
  { item, progress }: { item: WorkItem; progress: MatchProgress },
  coverage: Coverage,
): Promise<Later | undefined> {
  try {
    return await traceStep(deps.tracing, 'match', item, () =>
      matchEvent(deps, item, progress, coverage),
    );
  } catch (error) {
    if (isTrackportError(error, 'overloaded'))
      return { progress, dueAt: deps.clock.now() + READ_AGAIN_MS };
    if (isTrackportError(error)) throw error;
    deps.log.error(
      { receiptId: item.receiptId, ...errorFields(error) },
      'a match met a mistake of ours',
    );
    return fail(deps, item, 'internal-error');
  }
}

type Postponed = Parameters<WorkStore['postpone']>[0][number] & { progress: MatchProgress };
type Later = Omit<Postponed, 'item'>;

async function matchEvent(
  deps: MatchDeps,
  item: WorkItem,
  progress: MatchProgress,
  coverage: Coverage,
): Promise<Later | undefined> {
  const request = await readRequest(deps, item);
  if (request === 'partner-unknown') return waitForPartner(deps, item, progress);
  if (typeof request === 'string') return fail(deps, item, request);
  if (!request) return ignore(deps, item);
  const names = await namesHere(deps, item, request.names);
  const { createdBefore } = item;
  const match = await deps.store.match(names, createdBefore);
  const { missedSince = Infinity } = progress;
  const isCovered = coverage.until >= progress.askedAt && coverage.since <= missedSince;
  if (!isCovered || !coverage.isComplete) {
    const wanted = { names, createdBefore, isCovered };
    const byNumber = await matchByNumber(deps, { progress, match }, wanted);
    if (byNumber.match.by === 'lead-id' && byNumber.isReachable)
      return confirm(deps, item, { match: byNumber.match, todo: request.todo });
    return claimForNow(deps, item, byNumber.progress, { match: byNumber.match, isCovered });
  }
  if (match.leads.length === 0) return noteMiss(deps, item, { match, progress });
  return confirm(deps, item, { match, todo: request.todo });
}

/** A number counts in the repository in which it was claimed: in another one it is a stranger's lead. */
async function namesHere(
  { store }: MatchDeps,
  item: WorkItem,
  names: readonly MatchName[],
): Promise<readonly MatchName[]> {
  const others = names.filter(({ kind }) => kind !== 'lead-id');
  const isNumbered = others.length < names.length;
  return isNumbered && (await store.hasLeadsElsewhere(item)) ? others : names;
}

async function confirm(
  { store, clock }: MatchDeps,
  item: WorkItem,
  { match, todo }: { match: Match; todo: Todo },
): Promise<undefined> {
  await store.confirm(item, match, { ...todo, now: clock.now() });
}

/** Spends no try: another process may have a newer file, and a person can put the partner back. */
function waitForPartner(
  { clock, log }: MatchDeps,
  { receiptId, partnerId, progress: earlier }: WorkItem,
  { missedSince: _lookedAtAnew, ...progress }: MatchProgress,
): Later {
  const lastError = 'partner-unknown';
  if (!earlier)
    log.warn(
      { receiptId, partnerId, code: lastError },
      'an event waits: the configuration lacks its partner',
    );
  const dueAt = clock.now() + growingWaitMs(progress, clock.now(), PARTNER_WAIT_MAX_MS);
  return { progress, dueAt, lastError };
}

/** Half as long again as it has waited, within bounds. */
function growingWaitMs({ askedAt }: MatchProgress, now: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(WAIT_MIN_MS, Math.round((now - askedAt) / 2)));
}

/** Claims what is known, and matches again when more is known: a better name may find its lead. */
async function claimForNow(
  { store, clock, directory }: MatchDeps,
  item: WorkItem,
  progress: MatchProgress,
  { match, isCovered }: { match: Match; isCovered: boolean },
): Promise<Later | undefined> {
  const now = clock.now();
  const dueAt = isCovered
    ? now + growingWaitMs(progress, now, CRAWL_WAIT_MAX_MS)
    : now + Math.max(ASK_AGAIN_MS, directory.retryMs());
  if (await isClaimedSo(store, item, match)) return { progress, dueAt };
  await store.claim(item, match, { progress, dueAt, attempts: item.attempts, now });
  return undefined;
}

async function isClaimedSo(
  store: MatchDeps['store'],
  item: WorkItem,
  { leads, conflicts }: Match,
): Promise<boolean> {
  const numbers = await store.leadsOf(item);
  return (
    leads.every((number) => numbers.includes(number)) &&
    conflicts.every((number) => !numbers.includes(number))
  );
}

/**
 * What was claimed for now stays claimed between the tries: a replica may show the lead late. Before the
 * end the tracker is asked what a number that nobody knows is of, for whoever has to tell the partner.
 */
async function noteMiss(
  deps: MatchDeps,
  item: WorkItem,
  { match, progress }: { match: Match & { unknownLeadId?: number }; progress: MatchProgress },
): Promise<Later | undefined> {
  const { store, clock, unmatchedWaitsMs } = deps;
  const misses = progress.misses + 1;
  const wait = unmatchedWaitsMs[progress.misses];
  if (wait === undefined) {
    const { unknownLeadId } = match;
    const found = unknownLeadId === undefined ? 'unknown' : await findLead(deps, unknownLeadId);
    if (found === 'lead') return { progress, dueAt: clock.now() + ASK_AGAIN_MS };
    const settlement: Settlement = (await store.hasLeadsElsewhere(item))
      ? { outcome: 'FAILED', lastError: 'repository-changed', attempts: misses }
      : { outcome: 'UNMATCHED', attempts: misses, ...noteOf(match), ...NO_LEADS[found] };
    await endEvent(deps, item, settlement);
    return undefined;
  }
  const now = clock.now();
  const { missedSince = progress.askedAt } = progress;
  const next = { ...progress, misses, missedSince, askedAt: now + wait };
  const nextAt = now + wait;
  const step = { at: now, what: 'missed' } as const;
  const later = { progress: next, dueAt: nextAt, attempts: misses, now, step };
  if (await store.claim(item, match, later)) {
    const { receiptId, partnerId } = item;
    deps.reporter.attemptFailed({ receiptId, partnerId, code: NO_LEAD, attempts: misses, nextAt });
  }
  return undefined;
}

function noteOf({ conflicts }: Match): Pick<Settlement, 'note'> {
  return conflicts.length > 0 ? { note: 'lead-id-conflict' } : {};
}

async function ignore(deps: MatchDeps, item: WorkItem): Promise<undefined> {
  await endEvent(deps, item, { outcome: 'IGNORED', attempts: item.attempts });
  return undefined;
}

async function fail(
  deps: MatchDeps,
  item: WorkItem,
  lastError: EventErrorCode,
): Promise<undefined> {
  const attempts = item.attempts + 1;
  await endEvent(deps, item, { outcome: 'FAILED', attempts, lastError });
  return undefined;
}
