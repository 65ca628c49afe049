/** Finds the leads that events name: in the directory, caught up with the tracker first, or on the tracker by number. */
import type { DirectoryFiller, LearnedLead } from '#leads/directory/fill-directory.ts';
import { type Clock, sleepUntilAborted, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { MatchProgress } from '../../receipts/event-progress.ts';
import { type EventTimes, type Match, type MatchName, matchLeads } from '#leads/directory/match.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import type { RepositoryStore } from '../held-leads.ts';
import { errorFields, type Log } from '#shared/log.ts';
import {
  doublingSchedule,
  retryAfterMsOf,
  createCircuitBreaker,
} from '#shared/resilience/backoff.ts';

/** A claim is due within a second: no event waits longer for the directory, or for the tracker. */
export const MATCH_WAIT_MS = 400;

/** Reach of the directory. */
export type Coverage = {
  /** It holds everything that was on the tracker at this instant (ms). */
  until: number;
  /** Then every missing row means a missing issue. */
  isComplete: boolean;
  /** Start of the changes that were read anew, when that was wanted (ms); Infinity: as far back as usual. */
  since: number;
};

/** Keeps the directory as current as the events that wait need it. */
export type DirectoryCoverage = {
  /**
   * Wants what was on the tracker at `instant` and returns what is known after at most `waitMs`
   * milliseconds; a catch-up that takes longer goes on. What has changed since `since` is read
   * again, for an event that found nobody then: a replica may show it late. Never throws.
   */
  cover(instant: number, waitMs: number, since?: number): Promise<Coverage>;
  /** Time until it makes sense to try again, in whole ms; 0 while the tracker responds. */
  retryMs(): number;
  /** The credential may be another one: nothing is waited for any more, a catch-up with the former one neither. */
  askAgain(): void;
  /** False: a lead is not asked for by its number either, after a look-up that failed, or while we are locked out. */
  mayLookUp(): boolean;
  /** A look-up by number failed: the next one is due when a catch-up would be. */
  noteFailedLookUp(): void;
};

const RETRIES = doublingSchedule(SECOND, 30 * SECOND);
const LONGEST_NAMED_MS = 60 * SECOND;
/** Interval of looks, at the store alone, while we are locked out. */
const LOCKED_OUT_LOOK_MS = 5 * SECOND;
const nothing: Coverage = { until: -Infinity, isComplete: false, since: Infinity };

type CoverageOptions = {
  /** A run that began after the call, and reached back to `since` (ms). `DirectoryFiller` has it. */
  catchUp: (since: number) => Promise<{ isComplete: boolean }>;
  /** The tracker refuses us: nothing is asked of it until a probe has told that it takes us again. */
  isLockedOut: () => boolean;
  /** Called when a catch-up fails: the tracker may have locked us out. Never throws. */
  onFailure: () => Promise<void>;
  clock: Clock;
  log: Log;
};

export function createDirectoryCoverage({
  catchUp,
  isLockedOut,
  onFailure,
  clock,
  log,
}: CoverageOptions): DirectoryCoverage {
  let coverage = nothing;
  let flight: { calledAt: number; since: number; landed: Promise<void> } | undefined;
  const createBreaker = () => createCircuitBreaker({ clock, schedule: RETRIES });
  let breaker = createBreaker();
  let nextLookUpMs = -Infinity; // of the monotonic clock

  const retryMs = (): number => (isLockedOut() ? LOCKED_OUT_LOOK_MS : Math.ceil(breaker.waitMs()));

  const fly = async (calledAt: number, since: number): Promise<void> => {
    const current = breaker;
    try {
      const { isComplete } = await catchUp(since);
      if (calledAt >= coverage.until) coverage = { until: calledAt, isComplete, since };
      current.noteSuccess();
    } catch (error) {
      current.noteFailure(Math.min(retryAfterMsOf(error), LONGEST_NAMED_MS));
      log.warn(errorFields(error), 'the lead directory could not be caught up');
      await onFailure();
    }
  };

  const launch = (since: number): Promise<void> => {
    const calledAt = clock.now();
    const landed = fly(calledAt, since).finally(() => {
      if (flight?.landed === landed) flight = undefined;
    });
    flight = { calledAt, since, landed };
    return landed;
  };

  return {
    cover: async (instant, waitMs, since = Infinity) => {
      // A clock that was set back says nothing about what came before what.
      if (clock.now() < coverage.until) coverage = nothing;
      const isCovered = coverage.isComplete && coverage.until >= instant && coverage.since <= since;
      if (isCovered || retryMs() > 0) return coverage;
      const isUnderWay = flight && flight.calledAt >= instant && flight.since <= since;
      const landed = isUnderWay && flight ? flight.landed : launch(since);
      const waited = new AbortController();
      await Promise.race([landed, sleepUntilAborted(clock, waitMs, waited.signal)]);
      waited.abort();
      return coverage;
    },
    retryMs,
    askAgain: () => {
      breaker = createBreaker();
      flight = undefined;
      nextLookUpMs = -Infinity;
    },
    mayLookUp: () => !isLockedOut() && clock.monotonicMs() >= nextLookUpMs,
    noteFailedLookUp: () => {
      nextLookUpMs = clock.monotonicMs() + retryMs();
    },
  };
}

/**
 * `matchLeads` over the lead directory as it is now. `unknownLeadId`: the number that is among the names and that the
 * directory does not know. @throws {store-unavailable}
 */
export async function findMatch(
  { db, repository }: RepositoryStore,
  names: readonly MatchName[],
  times: EventTimes,
): Promise<Match & { unknownLeadId?: number }> {
  const directory = await readDirectoryView(db, repository, names);
  const leadId = names.find((name) => name.kind === 'lead-id');
  const isUnknown = leadId && !directory.has(leadId.number);
  return {
    ...matchLeads(names, directory, times),
    ...(isUnknown && { unknownLeadId: leadId.number }),
  };
}

/** Look-up of leads by their numbers, which needs no complete directory. */
type NumberLookUp = RepositoryStore & {
  filler: Pick<DirectoryFiller, 'learn'>;
  directory: Pick<DirectoryCoverage, 'mayLookUp' | 'noteFailedLookUp'>;
  clock: Clock;
};

/** Match of an event before its number is looked at by itself. */
type KnownMatch = {
  progress: MatchProgress;
  match: Match & { unknownLeadId?: number };
};

/** A match while the directory does not tell all. */
type MatchByNumber = KnownMatch & {
  /** The tracker responds, so that acting makes sense. */
  isReachable: boolean;
};

/**
 * While the directory does not tell all, a lead id is still good: the lead is acted on when the
 * tracker shows it, and claimed by its number alone when the tracker does not respond.
 * @throws {store-unavailable}
 */
export async function matchByNumber(
  lookUp: NumberLookUp,
  { progress, match }: KnownMatch,
  wanted: { names: readonly MatchName[]; times: EventTimes; isCovered: boolean },
): Promise<MatchByNumber> {
  const { names, times, isCovered } = wanted;
  const { unknownLeadId } = match;
  const number = names.find((name) => name.kind === 'lead-id')?.number;
  if (number === undefined || progress.isNoLead) return { progress, match, isReachable: isCovered };
  // A lead that is taken is read once more: the directory may not know by today's rule whose it is.
  if (unknownLeadId === undefined && isCovered && match.by !== 'lead-id')
    return { progress, match, isReachable: true };
  const found = await findLeadWhenDue(lookUp, number);
  if (found === 'lead')
    return { progress, match: await findMatch(lookUp, names, times), isReachable: true };
  if (unknownLeadId === undefined) return { progress, match, isReachable: found !== 'unknown' };
  if (found !== 'unknown')
    return { progress: { ...progress, isNoLead: true }, match, isReachable: true };
  const leads = [...new Set([unknownLeadId, ...match.leads])];
  return { progress, match: { ...match, leads, by: 'lead-id' }, isReachable: false };
}

async function findLeadWhenDue(
  lookUp: NumberLookUp,
  number: number,
): Promise<LearnedLead | 'unknown'> {
  if (!lookUp.directory.mayLookUp()) return 'unknown';
  const found = await findLead(lookUp, number);
  if (found === 'unknown') lookUp.directory.noteFailedLookUp();
  return found;
}

/**
 * Reads a lead from the tracker by its number, which needs no directory, and takes it in. `unknown`: the
 * tracker fails, or does not respond in time; then the lead is in the directory when it has come.
 */
export async function findLead(
  { filler, clock }: NumberLookUp,
  number: number,
): Promise<LearnedLead | 'unknown'> {
  const waited = new AbortController();
  const request = filler.learn(number).catch((error: unknown) => {
    if (!isTrackportError(error) || error.code === 'store-unavailable') throw error;
    return 'unknown' as const;
  });
  const tooLate = sleepUntilAborted(clock, MATCH_WAIT_MS, waited.signal).then(
    () => 'unknown' as const,
  );
  try {
    return await Promise.race([request, tooLate]);
  } finally {
    request.catch(() => undefined); // the next try meets a failing store by itself
    waited.abort();
  }
}
