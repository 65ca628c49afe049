import { TrackportError } from '#shared/errors.ts';

import type { CachedLead } from '../cache/upstream-page.ts';
import type { LeadCache } from '../cache/lead-cache.ts';
import type { ClaimView } from '../claims/claim-store.ts';
import { matchesFilter } from '../model/filter.ts';
import { carriesAll } from '../model/labels.ts';
import type { Lead } from '../model/lead-out.ts';
import { toResponse } from './lead-response.ts';
import type { LeadResponse, ResponseDeps } from './lead-response.ts';
import { toFilter } from './prepared-query.ts';
import type { Visibility } from './prepared-query.ts';

export type ReadLeadDeps = ResponseDeps & {
  cache: LeadCache;
  claims: ClaimView;
  approvedLabel: string;
  /** Folded: a lead that carries it is never shown. */
  deletedLabel: () => string;
};

/**
 * One lead by its issue number. A claimed one is refused without a call to the tracker.
 * @throws {lead-not-found} also for what is not approved, not visible, deleted, claimed, or no number
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export async function readLead(
  deps: ReadLeadDeps,
  id: string,
  visibility: Visibility,
): Promise<LeadResponse<Lead>> {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : undefined;
  if (number === undefined || (await deps.claims.current()).has(number)) throw notFound();
  const { found, result } = deps.cache.peekLead(number) ?? (await deps.cache.lead(number));
  if (!found || !isShown(deps, found, visibility)) throw notFound();
  // Looked at again after a wait, so that a claim made meanwhile counts.
  if (result.outcome !== 'hit' && (await deps.claims.current()).has(number)) throw notFound();
  return toResponse(deps, found.lead, [result]);
}

function isShown(
  { cache, approvedLabel, deletedLabel }: ReadLeadDeps,
  found: CachedLead,
  visibility: Visibility,
): boolean {
  const without = deletedLabel();
  if (visibility.labels.length === 0 && cache.isCurrent(found))
    return !carriesAll(found.issue, [without]);
  const filter = { ...toFilter({ state: 'all' }, visibility, approvedLabel), without };
  return matchesFilter(found.issue, filter) && cache.stillMatches(found, filter);
}

function notFound(): TrackportError {
  return new TrackportError('lead-not-found', {
    detail: 'There is no lead with this id that you may read.',
  });
}
