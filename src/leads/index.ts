import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';

import type { ClaimView } from './claims/claim-view.ts';
import type { InstanceChange } from './instance-changes/change-log.ts';
import type { Follower } from './instance-changes/instance-changes.ts';
import { createLeadCache } from './cache/lead-cache.ts';
import { createLeadFeed, type LeadFeed } from './lead-feed/lead-feed.ts';
import { hideLead } from './lead-feed/note-changes.ts';
import type { LeadStore } from './lead-store.ts';
import { foldLabel } from './model/labels.ts';
import type { LeadRules } from './model/lead.ts';
import { createPageCache } from './reading/page-cache.ts';
import { createLeadReader, type LeadReader } from './reading/lead-reader.ts';
import { type LeadTracker, REPLICA_LAG_MAX_MS, type TrackerEvent } from './lead-tracker.ts';

type LeadsOptions = {
  clock: Clock;
  log: Log;
  tracker: LeadTracker;
  claims: ClaimView;
  instanceChanges: Follower;
  cursors: CursorSealer;
  store: LeadStore;
  /** The sub-key that what leads look like is digested with. */
  lookKey: Buffer;
  /** Called for each item of the feed; `lagMs` since its change, on a stream that had all before it. */
  onFeedItem?: (lagMs?: number) => void;
  /** Makes sure that the store knows the repository. @throws {tracker-unavailable} */
  identify: () => Promise<void>;
  rules: LeadRules;
  /** Age of a response at most. */
  freshForMs: number;
  /** Time after that for which the last good value serves while the tracker fails. */
  staleIfErrorMs: number;
  /** Of all that is cached in memory. */
  cacheBytesMax: number;
};

/** The leads area: reading, and taking in what the tracker's webhook reports. */
export type Leads = {
  reader: LeadReader;
  leadFeed: LeadFeed;
  /** Synchronous: when it returns, nothing that the event contradicts is served as fresh. */
  applyEvent(event: TrackerEvent | InstanceChange): void;
  /** Estimated bytes of upstream pages and issues in the cache. */
  cacheBytes(): number;
};

const PAGES_SHARE = 0.25;

export function createLeads(options: LeadsOptions): Leads {
  const { clock, tracker, store, rules, cursors, cacheBytesMax } = options;
  const { freshForMs, staleIfErrorMs, lookKey, identify } = options;
  const cache = createLeadCache({
    clock,
    tracker,
    rules,
    freshForMs,
    staleIfErrorMs,
    bytesMax: Math.floor(cacheBytesMax * (1 - PAGES_SHARE)),
    // Should that fail, the next crawl finds out.
    onGone: (number, isCertain) => {
      const before = isCertain ? Infinity : clock.now() - REPLICA_LAG_MAX_MS;
      void hideLead(store, number, before).catch(() => undefined);
    },
  });
  const source = {
    clock,
    cache,
    pages: createPageCache(cache, Math.floor(cacheBytesMax * PAGES_SHARE)),
    claims: options.claims,
    cursors,
    approvedLabel: rules.approvedLabel,
    deletedLabel: () => foldLabel(rules.deletedLabel),
  };
  const reader = createLeadReader(source, options.instanceChanges);
  const leadFeed = createLeadFeed(
    { store, cache, reader, clock, lookKey, identify },
    { cursors, log: options.log, onItem: options.onFeedItem ?? (() => undefined) },
  );
  return {
    reader,
    leadFeed,
    applyEvent: (event) => cache.apply(event),
    cacheBytes: () => cache.bytes,
  };
}
