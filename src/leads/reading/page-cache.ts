import { textLength } from '../model/lead.ts';
import type { LeadList } from '../model/lead-out.ts';
import { LRUCache } from 'lru-cache';

import { OVERHEAD_BYTES } from '#shared/caching.ts';
import type { SeenPage, UpstreamPage } from '../cache/upstream-page.ts';
import type { CacheResult } from '../cache/confirmed-cache.ts';
import type { LeadCache } from '../cache/lead-cache.ts';
import type { Claims } from '../claims/claim-view.ts';

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
export type PageChoice = Pick<PageBasis, 'claims' | 'deletedLabel'>;

/**
 * Pages of leads that were assembled before. They have no age of their own: a page holds for as long as
 * the lead cache has each of its parts as the same object, and fresh.
 */
export type PageCache = {
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

export function createPageCache(cache: LeadCache, bytesMax: number): PageCache {
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
