import type { KeyObject } from 'node:crypto';
import { type Clock, SECOND } from '#shared/clock.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { foldLabels } from '#shared/text/labels.ts';
import type { LeadStore } from '../lead-store.ts';
import { REPLICA_LAG_MAX_MS } from '../lead-tracker.ts';
import { type Lead, leadDigestOf } from '../model/lead-out.ts';
import type { Visibility } from '../model/lead-query.ts';
import type { LeadCache, LeadLookUp } from '../reading/lead-cache.ts';
import type { LeadReader } from '../reading/lead-reader.ts';
import type { CachedLead } from '../reading/upstream-page.ts';
import { type LeadChange, toldChange } from './lead-change.ts';
import { hiddenSince, hideLeadNow, noteReadLeads } from './stored-changes.ts';

/** Leads as they are now, for the feed. */
export type LiveLeads = {
  store: LeadStore;
  cache: LeadCache;
  reader: LeadReader;
  clock: Clock;
  /** The sub-key that leads are digested with. */
  directoryKey: KeyObject;
};

type NotedLead = Pick<LeadChange, 'number' | 'position' | 'updatedAt' | 'labels' | 'leadDigest'>;

const ASK_AGAIN_MS = SECOND;

/**
 * The lead of a change, as it is now; without `lead` this reader cannot read it any more. `shownAt`: the position of a
 * newer change that tells the same.
 */
export type LiveLead = { lead?: Lead; shownAt?: number };

/**
 * Undefined: not yet, for what the tracker shows is older than the change. What is ahead of the change is noted, so
 * that nobody who was told it is told it again.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function readLiveLead(
  leads: LiveLeads,
  change: NotedLead,
  visibility: Visibility,
): Promise<LiveLead | undefined> {
  const { number, position } = change;
  const ageMs = leads.clock.now() - position;
  const at = { ...change, sinceMs: leads.clock.monotonicMs() - ageMs };
  const { found, isAsNew } = await findLead(leads, at);
  if (!isAsNew && ageMs < REPLICA_LAG_MAX_MS) return undefined;
  const lead = await readIfThere(leads, number, visibility);
  // No webhook told: should it come back, that is a change.
  if (!lead && !found) await hideLeadNow(leads.store, number);
  const shown = lead ?? found?.lead;
  const shownAt = shown && (await noteAhead(leads, change, shown));
  return { lead, shownAt: shownAt ?? (lead ? undefined : await hiddenSince(leads.store, number)) };
}

async function readIfThere(
  { reader }: LiveLeads,
  number: number,
  visibility: Visibility,
): Promise<Lead | undefined> {
  try {
    return (await reader.read(String(number), visibility)).value;
  } catch (error) {
    if (!isTrackportError(error, 'lead-not-found')) throw error;
    return undefined;
  }
}

/** The tracker counts whole seconds: within one what has another digest is taken for newer. */
async function noteAhead(
  { store, directoryKey }: LiveLeads,
  { number, updatedAt: notedAt, leadDigest: noted }: NotedLead,
  lead: Lead,
): Promise<number | undefined> {
  const updatedAt = Date.parse(lead.updatedAt);
  const leadDigest = leadDigestOf(directoryKey, lead);
  const isAhead = updatedAt === notedAt ? noted?.equals(leadDigest) === false : updatedAt > notedAt;
  if (!isAhead) return undefined;
  const read = { number, updatedAt, labels: foldLabels(lead.labels), leadDigest };
  return (await noteReadLeads(store, [read], toldChange)).get(number);
}

/** `sinceMs`: when it changed, on the monotonic clock. */
type ChangedLead = NotedLead & { sinceMs: number };
type Found = { found: CachedLead | undefined; isAsNew: boolean };

/**
 * The cache may be older than a change that another instance learnt of, and a replica of the tracker, too: it is
 * asked again, once for all who read the change, and no more than once a second.
 */
async function findLead(leads: LiveLeads, change: ChangedLead): Promise<Found> {
  const { cache, clock } = leads;
  const known = await loadLead(leads, change);
  if (known.isAsNew) return known;
  cache.invalidate(change.number, Math.max(change.sinceMs, clock.monotonicMs() - ASK_AGAIN_MS));
  return loadLead(leads, change);
}

/** Refuses a last good response: changes since then would never be told. @throws {tracker-unavailable} */
export function refuseStale({ outcome }: { outcome: string }): void {
  if (outcome !== 'stale') return;
  const detail =
    'The issue tracker cannot be asked right now, and what it said last is too old for the feed.';
  throw new TrackportError('tracker-unavailable', { detail });
}

async function loadLead({ cache, directoryKey }: LiveLeads, change: ChangedLead): Promise<Found> {
  const lead = await cache.lead(change.number);
  refuseStale(lead.result);
  return { found: lead.found, isAsNew: isAsNew(lead, change, directoryKey) };
}

/**
 * The tracker counts whole seconds: of two states of one second the one is meant whose digest was noted, and where
 * nobody knows that, the one that was asked for later is the newer one.
 */
function isAsNew(
  { found, result }: LeadLookUp,
  { updatedAt, labels, sinceMs, leadDigest }: ChangedLead,
  directoryKey: KeyObject,
): boolean {
  if (!found || found.issue.updatedAt < updatedAt) return false;
  if (found.issue.updatedAt > updatedAt) return true;
  if (leadDigest) return leadDigest.equals(leadDigestOf(directoryKey, found.lead));
  const hasItsLabels = foldLabels(found.issue.labels).join('\n') === foldLabels(labels).join('\n');
  return hasItsLabels && result.entry.confirmedAt >= sinceMs;
}
