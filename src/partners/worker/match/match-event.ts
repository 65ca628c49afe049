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
import type { ReadDelivery } from '../../read-delivery.ts';
import type { EventErrorCode } from '../../receipts/receipt.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import { findMatch, hasLeadsElsewhere, leadsOf } from '../event-leads.ts';
import { postpone, type Postponed } from '../lease-events.ts';
import { traceStep, type Settlement, type WorkItem } from '../work-item.ts';
import { reportEnd, settle } from '../end-event.ts';
import { type FoundMatch, keepMatches, type NewMatch } from './keep-matches.ts';

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

type Later = Omit<Postponed, 'item'> & { progress: MatchProgress };

/** What is to become of an event, as far as its match tells. */
type Decision =
  | { kind: 'keep'; found: FoundMatch; miss?: { attempts: number; nextAt: number } }
  | { kind: 'end'; settlement: Settlement }
  | { kind: 'wait'; later: Later };

/** It changes claims, or ends the event. */
type Change = Exclude<Decision, { kind: 'wait' }> & { item: WorkItem };

/**
 * Matches events with leads and claims what they name, so many in one transaction as are matched at once. All are
 * served by one catch-up; what the directory knows already is claimed even when the tracker does not respond.
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
    const portion = waiting.slice(at, at + MATCHED_AT_ONCE);
    const decisions = await Promise.all(portion.map((one) => decideOrFail(deps, one, coverage)));
    const changes: Change[] = [];
    for (const [place, decision] of decisions.entries()) {
      const { item } = portion[place] as (typeof portion)[number];
      if (decision.kind === 'wait') postponed.push({ item, ...decision.later });
      else changes.push({ item, ...decision });
    }
    await write(deps, changes);
    await setImmediate(); // commits wait for the disk: between them the service goes on
  }
  // In one commit: while the tracker is down every event that waits comes by here again and again.
  if (postponed.length > 0) await postpone(deps.db, postponed);
}

/** Writes changes in one transaction; when it fails for a reason of one of them, each in its own. */
async function write(deps: MatchDeps, changes: readonly Change[]): Promise<void> {
  const [first, ...others] = changes;
  if (!first) return;
  try {
    await writeAll(deps, changes);
  } catch (error) {
    if (isTrackportError(error)) throw error;
    if (others.length > 0) for (const change of changes) await write(deps, [change]);
    else await writeAll(deps, [{ item: first.item, ...failed(deps, first.item, error) }]);
  }
}

async function writeAll(deps: MatchDeps, changes: readonly Change[]): Promise<void> {
  const { db, repository, clock } = deps;
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
      deps.reporter.attemptFailed({ receiptId, partnerId, code: NO_LEAD, ...miss });
  }
  for (const [place, { item, settlement }] of ending.entries())
    if (ends[place] === 'settled') reportEnd(deps, item, settlement);
}

/** A mistake of ours about one event must not keep all others from being claimed. */
async function decideOrFail(
  deps: MatchDeps,
  { item, progress }: { item: WorkItem; progress: MatchProgress },
  coverage: Coverage,
): Promise<Decision> {
  try {
    return await traceStep(deps.tracing, 'match', item, () =>
      decide(deps, item, progress, coverage),
    );
  } catch (error) {
    if (isTrackportError(error, 'overloaded'))
      return { kind: 'wait', later: { progress, dueAt: deps.clock.now() + READ_AGAIN_MS } };
    if (isTrackportError(error)) throw error;
    return failed(deps, item, error);
  }
}

function failed(
  { log }: MatchDeps,
  item: WorkItem,
  error: unknown,
): Extract<Decision, { kind: 'end' }> {
  log.error({ receiptId: item.receiptId, ...errorFields(error) }, 'a match met a mistake of ours');
  return endFailed(item, 'internal-error');
}

async function decide(
  deps: MatchDeps,
  item: WorkItem,
  progress: MatchProgress,
  coverage: Coverage,
): Promise<Decision> {
  const request = await readRequest(deps, item);
  if (request === 'partner-unknown') return waitForPartner(deps, item, progress);
  if (typeof request === 'string') return endFailed(item, request);
  if (!request) return { kind: 'end', settlement: { outcome: 'IGNORED', attempts: item.attempts } };
  const names = await namesHere(deps, item, request.names);
  const match = await findMatch(deps, names, item);
  const { missedSince = Infinity } = progress;
  const isCovered = coverage.until >= progress.askedAt && coverage.since <= missedSince;
  if (!isCovered || !coverage.isComplete) {
    const wanted = { names, askedAt: item, isCovered };
    const byNumber = await matchByNumber(deps, { progress, match }, wanted);
    if (byNumber.match.by === 'lead-id' && byNumber.isReachable)
      return confirm(deps, byNumber.match, request.todo);
    return claimForNow(deps, item, byNumber.progress, { match: byNumber.match, isCovered });
  }
  if (match.leads.length === 0) return noteMiss(deps, item, { match, progress });
  return confirm(deps, match, request.todo);
}

/** A number counts in the repository in which it was claimed: in another one it is a stranger's lead. */
async function namesHere(
  deps: MatchDeps,
  item: WorkItem,
  names: readonly MatchName[],
): Promise<readonly MatchName[]> {
  const others = names.filter(({ kind }) => kind !== 'lead-id');
  const isNumbered = others.length < names.length;
  return isNumbered && (await hasLeadsElsewhere(deps, item)) ? others : names;
}

function confirm({ clock }: MatchDeps, match: Match, todo: Todo): Decision {
  return { kind: 'keep', found: { match, plan: { ...todo, now: clock.now() } } };
}

/** Spends no try: another process may have a newer file, and a person can put the partner back. */
function waitForPartner(
  { clock, log }: MatchDeps,
  { receiptId, partnerId, progress: earlier }: WorkItem,
  { missedSince: _lookedAtAnew, ...progress }: MatchProgress,
): Decision {
  const lastError = 'partner-unknown';
  if (!earlier)
    log.warn(
      { receiptId, partnerId, code: lastError },
      'an event waits: the configuration lacks its partner',
    );
  const dueAt = clock.now() + growingWaitMs(progress, clock.now(), PARTNER_WAIT_MAX_MS);
  return { kind: 'wait', later: { progress, dueAt, lastError } };
}

/** Half as long again as it has waited, within bounds. */
function growingWaitMs({ askedAt }: MatchProgress, now: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(WAIT_MIN_MS, Math.round((now - askedAt) / 2)));
}

/** Claims what is known, and matches again when more is known: a better name may find its lead. */
async function claimForNow(
  deps: MatchDeps,
  item: WorkItem,
  progress: MatchProgress,
  { match, isCovered }: { match: Match; isCovered: boolean },
): Promise<Decision> {
  const now = deps.clock.now();
  const dueAt = isCovered
    ? now + growingWaitMs(progress, now, CRAWL_WAIT_MAX_MS)
    : now + Math.max(ASK_AGAIN_MS, deps.directory.retryMs());
  if (await isClaimedSo(deps, item, match)) return { kind: 'wait', later: { progress, dueAt } };
  const next = { progress, dueAt, attempts: item.attempts, now };
  return { kind: 'keep', found: { match, next } };
}

async function isClaimedSo(
  deps: MatchDeps,
  item: WorkItem,
  { leads, conflicts }: Match,
): Promise<boolean> {
  const numbers = await leadsOf(deps, item);
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
): Promise<Decision> {
  const { clock, unmatchedWaitsMs } = deps;
  const misses = progress.misses + 1;
  const wait = unmatchedWaitsMs[progress.misses];
  if (wait === undefined) {
    const { unknownLeadId } = match;
    const found = unknownLeadId === undefined ? 'unknown' : await findLead(deps, unknownLeadId);
    if (found === 'lead')
      return { kind: 'wait', later: { progress, dueAt: clock.now() + ASK_AGAIN_MS } };
    const settlement: Settlement = (await hasLeadsElsewhere(deps, item))
      ? { outcome: 'FAILED', lastError: 'repository-changed', attempts: misses }
      : { outcome: 'UNMATCHED', attempts: misses, ...noteOf(match), ...NO_LEADS[found] };
    return { kind: 'end', settlement };
  }
  const now = clock.now();
  const { missedSince = progress.askedAt } = progress;
  const nextAt = now + wait;
  const next = {
    progress: { ...progress, misses, missedSince, askedAt: nextAt },
    dueAt: nextAt,
    attempts: misses,
    now,
    step: { at: now, what: 'missed' } as const,
  };
  return { kind: 'keep', found: { match, next }, miss: { attempts: misses, nextAt } };
}

function noteOf({ conflicts }: Match): Pick<Settlement, 'note'> {
  return conflicts.length > 0 ? { note: 'lead-id-conflict' } : {};
}

function endFailed(item: WorkItem, lastError: EventErrorCode): Extract<Decision, { kind: 'end' }> {
  return { kind: 'end', settlement: { outcome: 'FAILED', attempts: item.attempts + 1, lastError } };
}
