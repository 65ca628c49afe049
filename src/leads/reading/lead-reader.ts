import type { ChangeFeed } from '../feed/change-feed.ts';
import type { Lead, LeadList } from '../model/lead-out.ts';
import type { LeadResponse } from './lead-response.ts';
import { createPageCache } from './page-cache.ts';
import { createQueryPreparer } from './prepared-query.ts';
import type { LeadListQuery, PrepareDeps, Visibility } from './prepared-query.ts';
import { numberOf, readLead } from './read-lead.ts';
import type { ReadLeadDeps } from './read-lead.ts';
import { readPage } from './read-page.ts';
import type { ReadPageDeps } from './read-page.ts';

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
  return {
    list: async (query, visibility) => {
      if (!feed.isCurrent()) await feed.catchUp();
      const prepared = prepare(query, visibility);
      return readPage(pageDeps, await claims.current(), prepared);
    },
    read: async (id, visibility) => {
      if (!feed.isCurrent()) await feed.catchUp();
      const number = numberOf(id);
      return readLead(deps, await claims.current(), number, visibility);
    },
  };
}
