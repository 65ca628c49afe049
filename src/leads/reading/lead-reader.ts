import { LRUCache } from 'lru-cache';
import { OVERHEAD_BYTES } from '#shared/caching.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type CursorSealer, paginationOf, sealPage } from '#shared/pagination/page.ts';
import { carriesAll, foldLabel } from '#shared/text/labels.ts';
import type { Claims, ClaimView } from '../claims/claim-view.ts';
import type { InstanceChanges } from '../instance-changes.ts';
import { type Lead, LEAD_ID, type LeadList } from '../model/lead-out.ts';
import {
  type LeadListQuery,
  matchesFilter,
  type PreparedQuery,
  prepareQuery,
  toFilter,
  type Visibility,
} from '../model/lead-query.ts';
import { type LeadRules, textLength } from '../model/lead.ts';
import { type CacheResult, ttlMsOf } from './confirmed-cache.ts';
import type { LeadCache, LeadLookUp } from './lead-cache.ts';
import type { CachedLead, SeenPage, UpstreamPage } from './upstream-page.ts';
import { walk, type WalkStop } from './walk.ts';

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

/** The caches and the claims that leads are read from, and the labels that decide who sees them. */
type LeadSource = {
  clock: Clock;
  leadCache: LeadCache;
  pageCache: PageCache;
  claimView: ClaimView;
  cursors: CursorSealer;
  rules: Pick<LeadRules, 'approvedLabel' | 'deletedLabel'>;
  /** An instance that may have missed something looks before it responds. */
  instanceChanges: Pick<InstanceChanges, 'isCurrent' | 'becomeCurrent'>;
};

/** `pagesBytesMax`: of pages that are kept as they were assembled. */
export function createLeadReader(
  given: Omit<LeadSource, 'pageCache'>,
  pagesBytesMax: number,
): LeadReader {
  const source = { ...given, pageCache: createPageCache(given.leadCache, pagesBytesMax) };
  const { claimView, instanceChanges } = source;
  /**
   * The claims, once the cache has heard what other instances know: claims themselves do not travel that way. Chained
   * rather than awaited, here and in the routes: a hot read pays for each `async` function.
   */
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
  const deletedLabel = foldLabel(source.rules.deletedLabel);
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
  { leadCache, rules }: LeadSource,
  found: CachedLead,
  visibility: Visibility,
): boolean {
  const without = foldLabel(rules.deletedLabel);
  if (visibility.labels.length === 0 && leadCache.isCurrent(found))
    return !carriesAll(found.issue, [without]);
  const filter = { ...toFilter({ state: 'all' }, visibility, rules.approvedLabel), without };
  return matchesFilter(found.issue, filter) && leadCache.stillMatches(found, filter);
}

function notFound(): TrackportError {
  return new TrackportError('lead-not-found', {
    detail: 'There is no lead with this id that you may read.',
  });
}

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

/** All that a page of leads was assembled from. */
type PageBasis = {
  seen: readonly SeenPage[];
  /** The claims that its rows were chosen by: one that was released since must come back. */
  claims: Claims;
  eventsVersion: number;
  /** The folded label whose leads were left out. */
  deletedLabel: string;
};

/** The claims and the label by which the rows of a page are chosen, beside its query. */
type PageChoice = Pick<PageBasis, 'claims' | 'deletedLabel'>;

/**
 * Pages of leads that were assembled before. They have no age of their own: a page holds for as long as
 * the lead cache has each of its parts as the same object, and fresh.
 */
type PageCache = {
  /**
   * The page of this key for these claims and label, while it holds, and its parts as the cache has them
   * now. No call to the tracker.
   */
  find(
    key: string,
    choice: PageChoice,
  ): { list: LeadList; parts: readonly CacheResult<UpstreamPage>[] } | undefined;
  /**
   * Stores a page. Returns the one that was stored before when that was made on the same basis, so
   * that what was rendered of it serves on.
   */
  put(key: string, basis: PageBasis, make: () => LeadList): LeadList;
};

function createPageCache(cache: LeadCache, bytesMax: number): PageCache {
  const entries = new LRUCache<string, PageBasis & { list: LeadList }>({
    maxSize: bytesMax,
    sizeCalculation: ({ list: { items } }, key) =>
      items.reduce(
        (sum, lead) => sum + OVERHEAD_BYTES + textLength(lead),
        key.length + OVERHEAD_BYTES,
      ),
  });
  return {
    find: (key, { claims, deletedLabel }) => {
      const entry = entries.get(key);
      if (entry?.claims !== claims || entry.deletedLabel !== deletedLabel) return undefined;
      const parts = freshParts(cache, entry);
      return parts && { list: entry.list, parts };
    },
    put: (key, basis, make) => {
      const known = entries.get(key);
      const list = known && isSameBasis(known, basis) ? known.list : make();
      entries.set(key, { list, ...basis });
      return list;
    },
  };
}

/** The upstream pages when each is the same as then and fresh; else undefined. */
function freshParts(
  cache: LeadCache,
  { seen, eventsVersion }: PageBasis,
): CacheResult<UpstreamPage>[] | undefined {
  if (eventsVersion !== cache.eventsVersion) return undefined;
  const parts: CacheResult<UpstreamPage>[] = [];
  for (const { query, result } of seen) {
    const entry = cache.peekPage(query);
    if (entry?.value !== result.entry.value) return undefined;
    parts.push({ entry, outcome: 'hit' });
  }
  return parts;
}

/** True when the same pages, claims, label and events would give the same list. */
function isSameBasis(known: PageBasis, basis: PageBasis): boolean {
  const { seen, claims, eventsVersion, deletedLabel } = basis;
  return (
    known.claims === claims &&
    known.deletedLabel === deletedLabel &&
    known.eventsVersion === eventsVersion &&
    known.seen.length === seen.length &&
    known.seen.every(({ result }, at) => result.entry.value === seen[at]?.result.entry.value)
  );
}
