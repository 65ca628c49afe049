import { type CursorSealer, paginationOf, sealPage } from '#shared/pagination/page.ts';

import type { LeadCache } from '../cache/lead-cache.ts';
import type { Claims, ClaimView } from '../claims/claim-store.ts';
import { matchesFilter } from '../model/filter.ts';
import type { LeadList } from '../model/lead-out.ts';
import { type LeadResponse, type ResponseDeps, toResponse } from './lead-response.ts';
import type { PageCache, PageChoice } from './page-cache.ts';
import type { PreparedQuery } from './prepared-query.ts';
import { walk, type WalkStop } from './walk.ts';

export type ReadPageDeps = ResponseDeps & {
  cache: LeadCache;
  claims: ClaimView;
  pages: PageCache;
  cursors: CursorSealer;
  /** Folded: a lead that carries it is never shown. */
  deletedLabel: () => string;
};

/**
 * One page of leads: read, checked against the claims, which were just read, and assembled. A page
 * that was assembled before is taken as it is while it holds, and needs no promise.
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export function readPage(
  deps: ReadPageDeps,
  claims: Claims,
  query: PreparedQuery,
): LeadResponse<LeadList> | Promise<LeadResponse<LeadList>> {
  const deletedLabel = deps.deletedLabel();
  const known = deps.pages.find(query.key, { claims, deletedLabel });
  return known
    ? toResponse(deps, known.list, known.parts)
    : assemblePage(deps, { claims, deletedLabel }, query);
}

async function assemblePage(
  deps: ReadPageDeps,
  { claims, deletedLabel }: PageChoice,
  query: PreparedQuery,
): Promise<LeadResponse<LeadList>> {
  const { eventsVersion } = deps.cache;
  const filter = { ...query.filter, without: deletedLabel };
  const stop = await walk(deps.cache, query, (row) => {
    const { number } = row.issue;
    const isWanted = !claims.has(number) && matchesFilter(row.issue, filter);
    return isWanted && deps.cache.stillMatches(row, filter);
  });
  // A claim can be made while a request is under way: the last look is after the last wait.
  const now = await deps.claims.current();
  if (now !== claims && stop.rows.some((row) => now.has(row.issue.number)))
    return readPage(deps, now, query);

  const { seen } = stop;
  const parts = { seen, claims, eventsVersion, deletedLabel };
  const list = deps.pages.put(query.key, parts, () => toList(deps.cursors, query, stop));
  return toResponse(
    deps,
    list,
    seen.map(({ result }) => result),
  );
}

function toList(
  cursors: CursorSealer,
  { next: { list, filters } }: PreparedQuery,
  { rows, next }: WalkStop,
): LeadList {
  return {
    items: rows.map((row) => row.lead),
    pagination: paginationOf(next && sealPage(cursors, list, { filters, position: next })),
  };
}
