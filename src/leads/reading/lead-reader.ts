import type { Claims } from '../claims/claim-store.ts';
import type { ChangeFeed } from '../feed/change-feed.ts';
import type { Lead, LeadList } from '../model/lead-out.ts';
import type { LeadResponse } from './lead-response.ts';
import { createPageCache } from './page-cache.ts';
import {
  createQueryPreparer,
  type LeadListQuery,
  type PrepareDeps,
  type Visibility,
} from './prepared-query.ts';
import { numberOf, readLead, type ReadLeadDeps } from './read-lead.ts';
import { readPage, type ReadPageDeps } from './read-page.ts';

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

export type LeadReaderDeps = Omit<ReadPageDeps, 'pages'> &
  ReadLeadDeps &
  PrepareDeps & {
    /** An instance that may have missed something looks before it responds. */
    feed: Pick<ChangeFeed, 'isCurrent' | 'catchUp'>;
    /** Bytes of assembled pages in memory. */
    pageBytesMax: number;
  };

export function createLeadReader(deps: LeadReaderDeps): LeadReader {
  const prepare = createQueryPreparer(deps);
  const pages = createPageCache({ cache: deps.cache, bytesMax: deps.pageBytesMax });
  const pageDeps = { ...deps, pages };
  const { feed, claims } = deps;
  /** Chained rather than awaited, here and in the routes: a hot read pays for each `async` function. */
  const currentClaims = (): Promise<Claims> =>
    feed.isCurrent() ? claims.current() : feed.catchUp().then(() => claims.current());
  return {
    list: (query, visibility) =>
      currentClaims().then((current) => readPage(pageDeps, current, prepare(query, visibility))),
    read: (id, visibility) =>
      currentClaims().then((current) => readLead(deps, current, numberOf(id), visibility)),
  };
}
