import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import type { LeadTracker } from '../lead-tracker.ts';

/** Keeps a crawl within half of what the tracker's quota had left when the crawl met it. */
export type CrawlBudget = {
  /** Resolves when one more call may be made, at the latest after the quota's reset. */
  spend(signal: AbortSignal): Promise<void>;
};

export function createCrawlBudget(deps: { tracker: LeadTracker; clock: Clock }): CrawlBudget {
  let windowEnd = 0;
  let left = 0;
  return {
    spend: async (signal) => {
      const quota = deps.tracker.quota();
      if (!quota || quota.resetAt <= deps.clock.now()) return; // the next response names it
      if (Math.abs(quota.resetAt - windowEnd) > MINUTE) {
        windowEnd = quota.resetAt;
        left = Math.floor(quota.remaining / 2);
      }
      left -= 1;
      if (left < 0)
        await deps.clock.sleep(windowEnd - deps.clock.now() + SECOND, { signal, unref: true });
    },
  };
}
