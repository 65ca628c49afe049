import type { DirectoryFiller, LearnedLead } from '#leads/directory/fill-directory.ts';
import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { type Clock, sleepUntilAborted } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { DirectoryCoverage } from '../directory-coverage.ts';
import type { MatchProgress } from '../work-item.ts';
import type { Settlement } from '../settle-event.ts';
import { type EventTimes, type Match, type MatchName, matchLeads } from '#leads/directory/match.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import type { Repository } from '../held-leads.ts';

/** A claim is due within a second: no event waits longer for the directory, or for the tracker. */
export const MATCH_WAIT_MS = 400;

/**
 * `matchLeads` over the lead directory as it is now. `unknownLeadId`: the number that is among the names and that the
 * directory does not know. @throws {store-unavailable}
 */
export async function findMatch(
  { db, repository }: Repository,
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
type NumberLookUp = {
  db: Database;
  repository: StoredRepositoryName;
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

/** Reason that nobody was found, by the kind of thing whose number the event names. */
export const NO_LEADS: Readonly<
  Record<Exclude<LearnedLead, 'lead'> | 'unknown', Pick<Settlement, 'lastError'>>
> = {
  'pull-request': { lastError: 'pull-request' },
  absent: { lastError: 'no-issue' },
  unknown: {},
};
