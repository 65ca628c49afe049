import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { DirectoryFiller, LearnedLead } from '#leads/directory/fill-directory.ts';
import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing.ts';
import {
  type DirectoryCoverage,
  type Coverage,
  findLead,
  MATCH_WAIT_MS,
  matchByNumber,
  findMatch,
} from './find-leads.ts';
import { traceStep, type WorkItem } from '../work-item.ts';
import type { MatchProgress, Todo } from '../../receipts/event-progress.ts';
import type { Settlement } from '../settle-event.ts';
import type { OutcomeReporter } from '../../receipts/report-outcomes.ts';
import { type Match, type MatchName, toMatchNames } from '#leads/directory/match.ts';
import { actionsFor, namesOf, namesSomebody, ruleFor } from '../../event.ts';
import { effectOf } from '../act/issue-edit.ts';
import type { PartnerList } from '../../partner.ts';
import type { ReadDelivery } from '../../read-delivery.ts';
import { type EventErrorCode, isDeletion } from '../../receipts/receipt.ts';
import { hasLeadsElsewhere, leadsOf } from '../held-leads.ts';
import { postpone, type Postponed } from '../lease-events.ts';
import {
  CONFLICT,
  endFailed,
  failedMatch,
  type MatchChange,
  writeChanges,
} from './keep-matches.ts';

/** Wait of an event whose catch-up takes longer. */
const ASK_AGAIN_MS = SECOND / 2;
/** Wait of an event whose large payload found no room in memory. */
const READ_AGAIN_MS = 5 * SECOND;
/** While the first crawl runs, or the partner is unknown: half as long again as it has waited, within bounds. */
const WAIT_MIN_MS = SECOND / 10;
const CRAWL_WAIT_MAX_MS = 15 * SECOND;
const PARTNER_WAIT_MAX_MS = MINUTE;

const DECIDED_AT_ONCE = 20;

/** Everything by which events are matched: directory, partners of the configuration, tracker. */
export type Matching = {
  db: Database;
  repository: StoredRepositoryName;
  filler: Pick<DirectoryFiller, 'learn'>;
  directory: DirectoryCoverage;
  /** The sub-key for directory hashes. */
  directoryKey: KeyObject;
  partners: Pick<PartnerList, 'all'>;
  readDelivery: ReadDelivery;
  clock: Clock;
  log: Log;
  reporter: OutcomeReporter;
  /** Before an event that matched nothing is tried again: replicas lag. Then it is UNMATCHED. */
  unmatchedWaitsMs: readonly number[];
  tracing?: Tracing;
};

/** `keep` and `end` are written together; an event that waits is given back as it is. */
type Decision =
  | MatchChange
  | { kind: 'wait'; later: Omit<Postponed, 'item'> & { progress: MatchProgress } };

/**
 * Matches events with leads and claims what they name, in one transaction. All are served by one catch-up; what the
 * directory knows already is claimed even when the tracker does not respond.
 * @throws {store-unavailable}
 */
export async function matchEvents(matching: Matching, items: readonly WorkItem[]): Promise<void> {
  const now = matching.clock.now();
  const waiting = items.map((item) => ({ item, progress: progressOf(item, now) }));
  const newest = Math.max(...waiting.map(({ progress }) => progress.askedAt));
  const since = Math.min(...waiting.map(({ progress }) => progress.missedSince ?? Infinity));
  const coverage = await matching.directory.cover(newest, MATCH_WAIT_MS, since);
  const changes: (MatchChange & { item: WorkItem })[] = [];
  const postponed: Postponed[] = [];
  for (let at = 0; at < waiting.length; at += DECIDED_AT_ONCE) {
    const portion = waiting.slice(at, at + DECIDED_AT_ONCE);
    const decisions = await Promise.all(
      portion.map((one) => decideOrFail(matching, one, coverage)),
    );
    for (const [place, decision] of decisions.entries()) {
      const { item } = portion[place] as (typeof portion)[number];
      if (decision.kind === 'wait') postponed.push({ item, ...decision.later });
      else changes.push({ item, ...decision });
    }
    await setImmediate(); // reads are made at once: between them the service goes on
  }
  await writeChanges(matching, changes);
  // In one commit: while the tracker is down every event that waits comes by here again and again.
  if (postponed.length > 0) await postpone(matching.db, postponed);
}

/**
 * Progress of the event's match so far. A clock that was set back leaves instants in the future, which
 * no catch-up would ever reach.
 */
function progressOf({ dueAt, progress }: WorkItem, now: number): MatchProgress {
  if (progress?.stage === 'match') {
    const { askedAt, missedSince } = progress;
    return {
      ...progress,
      askedAt: Math.min(now, askedAt),
      ...(missedSince !== undefined && { missedSince: Math.min(now, missedSince) }),
    };
  }
  return { stage: 'match', askedAt: Math.min(now, dueAt), misses: 0 };
}

/** A mistake of ours about one event must not keep all others from being claimed. */
async function decideOrFail(
  matching: Matching,
  { item, progress }: { item: WorkItem; progress: MatchProgress },
  coverage: Coverage,
): Promise<Decision> {
  try {
    return await traceStep(matching.tracing, 'match', item, () =>
      decideMatch(matching, item, progress, coverage),
    );
  } catch (error) {
    if (isTrackportError(error, 'overloaded'))
      return { kind: 'wait', later: { progress, dueAt: matching.clock.now() + READ_AGAIN_MS } };
    if (isTrackportError(error)) throw error;
    return failedMatch(matching, item, error);
  }
}

async function decideMatch(
  matching: Matching,
  item: WorkItem,
  progress: MatchProgress,
  coverage: Coverage,
): Promise<Decision> {
  const request = await readRequest(matching, item);
  if (request === 'partner-unknown') return waitForPartner(matching, item, progress);
  if (typeof request === 'string') return endFailed(item, request);
  if (!request) return { kind: 'end', settlement: { outcome: 'IGNORED', attempts: item.attempts } };
  const names = await namesHere(matching, item, request.names);
  const match = await findMatch(matching, names, item);
  const { missedSince = Infinity } = progress;
  const isCovered = coverage.until >= progress.askedAt && coverage.since <= missedSince;
  if (!isCovered || !coverage.isComplete) {
    const wanted = { names, times: item, isCovered };
    const byNumber = await matchByNumber(matching, { progress, match }, wanted);
    if (byNumber.match.by === 'lead-id' && byNumber.isReachable)
      return keepForGood(matching, byNumber.match, request.todo);
    return keepForNow(matching, item, byNumber.progress, { match: byNumber.match, isCovered });
  }
  if (match.leads.length === 0) return noteMiss(matching, item, { match, progress });
  return keepForGood(matching, match, request.todo);
}

/** Names and work in an event, or the code of why it cannot be read; undefined when no rule is for it any more. */
async function readRequest(
  { directoryKey, partners, readDelivery }: Matching,
  item: WorkItem,
): Promise<{ names: readonly MatchName[]; todo: Todo } | EventErrorCode | undefined> {
  const partner = partners.all().find(({ id }) => id === item.partnerId);
  if (!partner) return 'partner-unknown';
  if (!item.payload) return 'payload-unreadable';
  try {
    const [read] = await readDelivery(item.payload, partner.fields);
    const event = read?.event;
    // Somebody was named when it was accepted: the fields are others by now.
    if (!event || !namesSomebody(event)) return 'payload-unreadable';
    const names = toMatchNames(namesOf(partner.id, event), directoryKey);
    if (isDeletion(item)) return { names, todo: { actions: actionsFor(partner, event) } };
    const rule = ruleFor(partner, event);
    return rule && { names, todo: { actions: [], effect: effectOf(rule, event, item) } };
  } catch (error) {
    if (isTrackportError(error, 'malformed-json')) return 'payload-unreadable';
    throw error;
  }
}

/** A number counts in the repository in which it was claimed: in another one it is a stranger's lead. */
async function namesHere(
  matching: Matching,
  item: WorkItem,
  names: readonly MatchName[],
): Promise<readonly MatchName[]> {
  const others = names.filter(({ kind }) => kind !== 'lead-id');
  const isNumbered = others.length < names.length;
  return isNumbered && (await hasLeadsElsewhere(matching, item)) ? others : names;
}

/** Every claim that the match names counts for good, and the event goes on to its actions. */
function keepForGood({ clock }: Matching, match: Match, todo: Todo): Decision {
  return { kind: 'keep', found: { match, plan: { ...todo, now: clock.now() } } };
}

/** Spends no try: another process may have a newer file, and a person can put the partner back. */
function waitForPartner(
  { clock, log }: Matching,
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

/** Has what is known claimed, and matched again when more is known: a better name may find its lead. */
async function keepForNow(
  matching: Matching,
  item: WorkItem,
  progress: MatchProgress,
  { match, isCovered }: { match: Match; isCovered: boolean },
): Promise<Decision> {
  const now = matching.clock.now();
  const dueAt = isCovered
    ? now + growingWaitMs(progress, now, CRAWL_WAIT_MAX_MS)
    : now + Math.max(ASK_AGAIN_MS, matching.directory.retryMs());
  if (await isClaimedSo(matching, item, match)) return { kind: 'wait', later: { progress, dueAt } };
  const next = { progress, dueAt, attempts: item.attempts, now };
  return { kind: 'keep', found: { match, next } };
}

async function isClaimedSo(
  matching: Matching,
  item: WorkItem,
  { leads, conflicts }: Match,
): Promise<boolean> {
  if (leads.length === 0 && conflicts.length === 0) return true;
  const numbers = await leadsOf(matching, item);
  return (
    leads.every((number) => numbers.includes(number)) &&
    conflicts.every((number) => !numbers.includes(number))
  );
}

/**
 * Keeps provisional claims between the tries: a replica may show the lead late. Before the end the tracker
 * is asked about a number that nobody knows, for whoever has to tell the partner.
 */
async function noteMiss(
  matching: Matching,
  item: WorkItem,
  { match, progress }: { match: Match & { unknownLeadId?: number }; progress: MatchProgress },
): Promise<Decision> {
  const { clock, unmatchedWaitsMs } = matching;
  const misses = progress.misses + 1;
  const wait = unmatchedWaitsMs[progress.misses];
  if (wait === undefined) {
    const { unknownLeadId } = match;
    const found = unknownLeadId === undefined ? 'unknown' : await findLead(matching, unknownLeadId);
    if (found === 'lead')
      return { kind: 'wait', later: { progress, dueAt: clock.now() + ASK_AGAIN_MS } };
    const settlement: Settlement = (await hasLeadsElsewhere(matching, item))
      ? { outcome: 'FAILED', lastError: 'repository-changed', attempts: misses }
      : {
          outcome: 'UNMATCHED',
          attempts: misses,
          ...(match.conflicts.length > 0 && { note: CONFLICT }),
          ...NO_LEADS[found],
        };
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

/** Reason that nobody was found, by the kind of thing whose number the event names. */
const NO_LEADS: Readonly<
  Record<Exclude<LearnedLead, 'lead'> | 'unknown', Pick<Settlement, 'lastError'>>
> = {
  'pull-request': { lastError: 'pull-request' },
  absent: { lastError: 'no-issue' },
  unknown: {},
};
