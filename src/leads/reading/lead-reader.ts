import { type CursorSealer, paginationOf, sealPage } from '#shared/pagination/page.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Claims, ClaimView } from '../claims/claim-view.ts';
import type { InstanceChanges } from '../instance-changes/instance-changes.ts';
import { type Lead, LEAD_ID, type LeadList } from '../model/lead-out.ts';
import type { PageCache, PageChoice } from './page-cache.ts';
import {
  type LeadListQuery,
  type PreparedQuery,
  prepareQuery,
  toFilter,
  type Visibility,
  matchesFilter,
} from '../model/lead-query.ts';
import type { LeadLookUp, LeadCache } from '../cache/lead-cache.ts';
import { walk, type WalkStop } from './walk.ts';
import type { CachedLead } from '../cache/upstream-page.ts';
import { carriesAll } from '#shared/text/labels.ts';
import type { Clock } from '#shared/clock.ts';
import { type CacheResult, ttlMsOf } from '../cache/confirmed-cache.ts';

/** The origin of a response, for `Age` and `Cache-Status` (RFC 9211). */
export type CacheStatus = {
  /** `hit`: no call was needed. `miss`: at least one call. `stale`: the tracker failed, last good value. */
  outcome: 'hit' | 'miss' | 'stale';
  /** Milliseconds since the oldest part was last confirmed by the tracker. */
  ageMs: number;
  /** Milliseconds until it stops being fresh; ≤ 0 when stale. */
  ttlMs: number;
};

/** `value` is the same object as long as nothing in it changed (`shared/caching.ts`). */
export type LeadResponse<T> = { value: T; cache: CacheStatus };

/** The caches and the claims that leads are read from, and the labels that decide who sees them. */
type LeadSource = {
  clock: Clock;
  leadCache: LeadCache;
  pageCache: PageCache;
  claimView: ClaimView;
  cursors: CursorSealer;
  approvedLabel: string;
  /** Folded: a lead that carries it is never shown. */
  deletedLabel: () => string;
};

/** A value with the status of its parts: as old as the oldest, as good as the worst. */
function toResponse<T>(
  { clock, leadCache }: LeadSource,
  value: T,
  parts: readonly CacheResult<unknown>[],
): LeadResponse<T> {
  const freshness = { now: clock.monotonicMs(), freshForMs: leadCache.freshForMs };
  let ageMs = 0;
  let ttlMs = freshness.freshForMs;
  let outcome: CacheStatus['outcome'] = 'hit';
  for (const part of parts) {
    ageMs = Math.max(ageMs, freshness.now - part.entry.confirmedAt);
    ttlMs = Math.min(ttlMs, ttlMsOf(part.entry, freshness));
    if (part.outcome === 'stale' || (part.outcome === 'miss' && outcome === 'hit'))
      outcome = part.outcome;
  }
  return { value, cache: { outcome, ageMs, ttlMs } };
}

/** Reading leads. Values never hold a lead that is claimed, deleted, unapproved or outside the visibility. */
export type LeadReader = {
  /**
   * @throws {invalid-cursor} @throws {tracker-failed} @throws {tracker-unavailable}
   * @throws {store-unavailable} when the claims cannot be read
   */
  list(query: LeadListQuery, visibility: Visibility): Promise<LeadResponse<LeadList>>;
  /**
   * @throws {lead-not-found} also for what is not approved, not visible, claimed, or no number
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  read(id: string, visibility: Visibility): Promise<LeadResponse<Lead>>;
};

/** `instanceChanges`: an instance that may have missed something looks before it responds. */
export function createLeadReader(
  source: LeadSource,
  instanceChanges: Pick<InstanceChanges, 'isCurrent' | 'becomeCurrent'>,
): LeadReader {
  const { claimView } = source;
  /** Chained rather than awaited, here and in the routes: a hot read pays for each `async` function. */
  const currentClaims = (): Promise<Claims> =>
    instanceChanges.isCurrent()
      ? claimView.current()
      : instanceChanges.becomeCurrent().then(() => claimView.current());
  return {
    list: (query, visibility) =>
      currentClaims().then((current) =>
        readLeadPage(source, current, prepareQuery(source, query, visibility)),
      ),
    read: (id, visibility) =>
      currentClaims().then((current) => readLead(source, current, numberOf(id), visibility)),
  };
}

/**
 * One page of leads: read, checked against the claims, which were just read, and assembled. A page
 * that was assembled before is taken as it is while it holds, and needs no promise.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
function readLeadPage(
  source: LeadSource,
  claims: Claims,
  query: PreparedQuery,
): LeadResponse<LeadList> | Promise<LeadResponse<LeadList>> {
  const deletedLabel = source.deletedLabel();
  const known = source.pageCache.find(query.key, { claims, deletedLabel });
  return known
    ? toResponse(source, known.list, known.parts)
    : assemblePage(source, { claims, deletedLabel }, query);
}

async function assemblePage(
  source: LeadSource,
  { claims, deletedLabel }: PageChoice,
  query: PreparedQuery,
): Promise<LeadResponse<LeadList>> {
  const { leadCache, pageCache, cursors } = source;
  const { eventsVersion } = leadCache;
  const filter = { ...query.filter, without: deletedLabel };
  const stop = await walk(leadCache, query, (row) => {
    const { number } = row.issue;
    const isWanted = !claims.has(number) && matchesFilter(row.issue, filter);
    return isWanted && leadCache.stillMatches(row, filter);
  });
  // A claim can be made while a request is under way: the last look is after the last wait.
  const now = await source.claimView.current();
  if (now !== claims && stop.rows.some((row) => now.has(row.issue.number)))
    return readLeadPage(source, now, query);

  const { seen } = stop;
  const basis = { seen, claims, eventsVersion, deletedLabel };
  const list = pageCache.put(query.key, basis, () => toList(cursors, query, stop));
  return toResponse(
    source,
    list,
    seen.map(({ result }) => result),
  );
}

function toList(
  cursors: CursorSealer,
  { next: { list, filter } }: PreparedQuery,
  { rows, next }: WalkStop,
): LeadList {
  return {
    items: rows.map((row) => row.lead),
    pagination: paginationOf(next && sealPage(cursors, list, { filter, position: next })),
  };
}

/**
 * One lead by its issue number, checked against the claims, which were just read. A claimed one is
 * refused without a call to the tracker, and a cached one needs no promise.
 * @throws {lead-not-found} also for what is not approved, not visible, deleted or claimed
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
function readLead(
  source: LeadSource,
  claims: Claims,
  number: number,
  visibility: Visibility,
): LeadResponse<Lead> | Promise<LeadResponse<Lead>> {
  if (claims.has(number)) throw notFound();
  const cached = source.leadCache.peekLead(number);
  return cached ? respond(source, cached, visibility) : loadLead(source, number, visibility);
}

/** The issue number that an id stands for. @throws {lead-not-found} it stands for none */
function numberOf(id: string): number {
  if (!LEAD_ID.test(id)) throw notFound();
  return Number(id);
}

async function loadLead(
  source: LeadSource,
  number: number,
  visibility: Visibility,
): Promise<LeadResponse<Lead>> {
  const response = respond(source, await source.leadCache.lead(number), visibility);
  // Looked at again after a wait, so that a claim made meanwhile counts.
  if ((await source.claimView.current()).has(number)) throw notFound();
  return response;
}

function respond(
  source: LeadSource,
  { found, result }: LeadLookUp,
  visibility: Visibility,
): LeadResponse<Lead> {
  if (!found || !isShown(source, found, visibility)) throw notFound();
  return toResponse(source, found.lead, [result]);
}

function isShown(
  { leadCache, approvedLabel, deletedLabel }: LeadSource,
  found: CachedLead,
  visibility: Visibility,
): boolean {
  const without = deletedLabel();
  if (visibility.labels.length === 0 && leadCache.isCurrent(found))
    return !carriesAll(found.issue, [without]);
  const filter = { ...toFilter({ state: 'all' }, visibility, approvedLabel), without };
  return matchesFilter(found.issue, filter) && leadCache.stillMatches(found, filter);
}

function notFound(): TrackportError {
  return new TrackportError('lead-not-found', {
    detail: 'There is no lead with this id that you may read.',
  });
}
