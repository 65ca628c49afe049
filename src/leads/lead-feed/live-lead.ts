import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import type { FoundLead, LeadCache } from '../cache/lead-cache.ts';
import type { CachedLead } from '../cache/upstream-page.ts';
import { foldLabels } from '../model/labels.ts';
import type { Lead } from '../model/lead-out.ts';
import type { LeadReader } from '../reading/lead-reader.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import type { FeedStore, LeadChange } from './feed-store.ts';

export type LiveLeadDeps = {
  store: Pick<FeedStore, 'hide'>;
  cache: Pick<LeadCache, 'lead' | 'doubt'>;
  reader: Pick<LeadReader, 'read'>;
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
};

/** A replica of the tracker may be so far behind the webhook. */
const LAG_MAX_MS = 15 * SECOND;
const ASK_AGAIN_MS = SECOND;

/**
 * The lead of a change, as it is now. `gone`: this reader cannot read it any more. `later`: what the tracker shows is
 * older than the change.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function readLiveLead(
  deps: LiveLeadDeps,
  change: LeadChange,
  visibility: Visibility,
): Promise<Lead | 'gone' | 'later'> {
  const { number, position } = change;
  const ageMs = deps.clock.now() - position;
  const at = { ...change, changedAt: deps.clock.monotonicMs() - ageMs };
  const { found, isAsNew } = await findLead(deps, at);
  if (!isAsNew && ageMs < LAG_MAX_MS) return 'later';
  try {
    return (await deps.reader.read(String(number), visibility)).value;
  } catch (error) {
    if (!isTrackportError(error, 'lead-not-found')) throw error;
    // No webhook told: should it come back, that is a change.
    if (!found) await deps.store.hide(number);
    return 'gone';
  }
}

/** `changedAt`: on the monotonic clock. */
type Dated = LeadChange & { changedAt: number };
type Found = { found: CachedLead | undefined; isAsNew: boolean };

/**
 * What is cached may be older than a change that another instance learnt of, and a replica of the tracker, too: it is
 * asked again, once for all who read the change, and no more than once a second.
 */
async function findLead({ cache, clock }: LiveLeadDeps, change: Dated): Promise<Found> {
  const known = await loadLead(cache, change);
  if (known.isAsNew) return known;
  cache.doubt(change.number, Math.max(change.changedAt, clock.monotonicMs() - ASK_AGAIN_MS));
  return loadLead(cache, change);
}

async function loadLead(cache: LiveLeadDeps['cache'], change: Dated): Promise<Found> {
  const lead = await cache.lead(change.number);
  if (lead.result.outcome === 'stale') throw new TrackportError('tracker-unavailable');
  return { found: lead.found, isAsNew: isAsNew(lead, change) };
}

/** The tracker counts whole seconds: of two states of one second the one that was asked for later is the newer one. */
function isAsNew({ found, result }: FoundLead, { updatedAt, labels, changedAt }: Dated): boolean {
  if (!found || found.issue.updatedAt < updatedAt) return false;
  if (found.issue.updatedAt > updatedAt) return true;
  const hasItsLabels = foldLabels(found.issue.labels).join('\n') === foldLabels(labels).join('\n');
  return hasItsLabels && result.entry.confirmedAt >= changedAt;
}
