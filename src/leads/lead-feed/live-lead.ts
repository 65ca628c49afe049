import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { REPLICA_LAG_MAX_MS } from '../lead-tracker.ts';
import type { FoundLead, LeadCache } from '../cache/lead-cache.ts';
import type { CachedLead } from '../cache/upstream-page.ts';
import { foldLabels } from '../model/labels.ts';
import { type Lead, lookOf } from '../model/lead-out.ts';
import type { LeadReader } from '../reading/lead-reader.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import type { LeadStore } from '../lead-store.ts';
import { hideLead } from './note-changes.ts';
import type { LeadChange } from './lead-change.ts';

/** Leads as they are now, for the feed. */
export type LiveLeads = {
  store: LeadStore;
  cache: LeadCache;
  reader: LeadReader;
  clock: Clock;
  /** The sub-key that what leads look like is digested with. */
  lookKey: Buffer;
};

type NotedLead = Pick<LeadChange, 'number' | 'position' | 'updatedAt' | 'labels' | 'look'>;

const ASK_AGAIN_MS = SECOND;

/**
 * The lead of a change, as it is now. `gone`: this reader cannot read it any more. `later`: what the tracker shows is
 * older than the change.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function readLiveLead(
  leads: LiveLeads,
  change: NotedLead,
  visibility: Visibility,
): Promise<Lead | 'gone' | 'later'> {
  const { number, position } = change;
  const ageMs = leads.clock.now() - position;
  const at = { ...change, changedAt: leads.clock.monotonicMs() - ageMs };
  const { found, isAsNew } = await findLead(leads, at);
  if (!isAsNew && ageMs < REPLICA_LAG_MAX_MS) return 'later';
  try {
    return (await leads.reader.read(String(number), visibility)).value;
  } catch (error) {
    if (!isTrackportError(error, 'lead-not-found')) throw error;
    // No webhook told: should it come back, that is a change.
    if (!found) await hideLead(leads.store, number);
    return 'gone';
  }
}

/** `changedAt`: on the monotonic clock. */
type Dated = NotedLead & { changedAt: number };
type Found = { found: CachedLead | undefined; isAsNew: boolean };

/**
 * The cache may be older than a change that another instance learnt of, and a replica of the tracker, too: it is
 * asked again, once for all who read the change, and no more than once a second.
 */
async function findLead(leads: LiveLeads, change: Dated): Promise<Found> {
  const { cache, clock } = leads;
  const known = await loadLead(leads, change);
  if (known.isAsNew) return known;
  cache.invalidate(change.number, Math.max(change.changedAt, clock.monotonicMs() - ASK_AGAIN_MS));
  return loadLead(leads, change);
}

/** Refuses a last good response: changes since then would never be told. @throws {tracker-unavailable} */
export function refuseStale({ outcome }: { outcome: string }): void {
  if (outcome !== 'stale') return;
  const detail =
    'The issue tracker cannot be asked right now, and what it said last is too old for the feed.';
  throw new TrackportError('tracker-unavailable', { detail });
}

async function loadLead({ cache, lookKey }: LiveLeads, change: Dated): Promise<Found> {
  const lead = await cache.lead(change.number);
  refuseStale(lead.result);
  return { found: lead.found, isAsNew: isAsNew(lead, change, lookKey) };
}

/**
 * The tracker counts whole seconds: of two states of one second the one is meant that looks as it was noted, and where
 * nobody knows that, the one that was asked for later is the newer one.
 */
function isAsNew(
  { found, result }: FoundLead,
  { updatedAt, labels, changedAt, look }: Dated,
  lookKey: Buffer,
): boolean {
  if (!found || found.issue.updatedAt < updatedAt) return false;
  if (found.issue.updatedAt > updatedAt) return true;
  if (look) return look.equals(lookOf(lookKey, found.lead));
  const hasItsLabels = foldLabels(found.issue.labels).join('\n') === foldLabels(labels).join('\n');
  return hasItsLabels && result.entry.confirmedAt >= changedAt;
}
