import { TrackportError } from '#shared/errors.ts';

import type { CachedLead } from '../cache/upstream-page.ts';
import type { FoundLead, LeadCache } from '../cache/lead-cache.ts';
import type { Claims, ClaimView } from '../claims/claim-store.ts';
import { matchesFilter } from '../model/filter.ts';
import { carriesAll } from '../model/labels.ts';
import type { Lead } from '../model/lead-out.ts';
import { type LeadResponse, type ResponseDeps, toResponse } from './lead-response.ts';
import { toFilter, type Visibility } from './prepared-query.ts';

export type ReadLeadDeps = ResponseDeps & {
  cache: LeadCache;
  claims: ClaimView;
  approvedLabel: string;
  /** Folded: a lead that carries it is never shown. */
  deletedLabel: () => string;
};

/**
 * One lead by its issue number, checked against the claims, which were just read. A claimed one is
 * refused without a call to the tracker, and a cached one needs no promise.
 * @throws {lead-not-found} also for what is not approved, not visible, deleted or claimed
 * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
 */
export function readLead(
  deps: ReadLeadDeps,
  claims: Claims,
  number: number,
  visibility: Visibility,
): LeadResponse<Lead> | Promise<LeadResponse<Lead>> {
  if (claims.has(number)) throw notFound();
  const cached = deps.cache.peekLead(number);
  return cached ? respond(deps, cached, visibility) : loadLead(deps, number, visibility);
}

/** The issue number that an id stands for. @throws {lead-not-found} it stands for none */
export function numberOf(id: string): number {
  if (!/^[1-9]\d{0,9}$/.test(id)) throw notFound();
  return Number(id);
}

async function loadLead(
  deps: ReadLeadDeps,
  number: number,
  visibility: Visibility,
): Promise<LeadResponse<Lead>> {
  const response = respond(deps, await deps.cache.lead(number), visibility);
  // Looked at again after a wait, so that a claim made meanwhile counts.
  if ((await deps.claims.current()).has(number)) throw notFound();
  return response;
}

function respond(
  deps: ReadLeadDeps,
  { found, result }: FoundLead,
  visibility: Visibility,
): LeadResponse<Lead> {
  if (!found || !isShown(deps, found, visibility)) throw notFound();
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
