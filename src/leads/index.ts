import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';

import type { ClaimView } from './claims/claim-view.ts';
import type { InstanceChange } from './instance-changes/instance-change.ts';
import type { InstanceChanges } from './instance-changes/instance-changes.ts';
import { createLeadCache } from './cache/lead-cache.ts';
import { createLeadFeed, type LeadFeed } from './lead-feed/lead-feed.ts';
import { hideLead } from './lead-feed/note-changes.ts';
import type { LeadStore } from './lead-store.ts';
import { foldLabel } from './model/labels.ts';
import type { LeadRules } from './model/lead.ts';
import { createLeadReader, type LeadReader } from './reading/lead-reader.ts';
import { type LeadTracker, REPLICA_LAG_MAX_MS, type TrackerEvent } from './lead-tracker.ts';

type LeadsOptions = {
  clock: Clock;
  log: Log;
  tracker: LeadTracker;
  claims: ClaimView;
  /** Whether what other instances learnt has arrived here. */
  instanceChanges: Pick<InstanceChanges, 'isCurrent' | 'catchUp'>;
  cursors: CursorSealer;
  store: LeadStore;
  /** See `LiveLeadDeps`. */
  lookKey: Buffer;
  /** See `LeadFeedDeps`. */
  onFeedItem?: (lagMs?: number) => void;
  /** See `ReadFeedDeps`. */
  identify(): Promise<void>;
  rules: LeadRules;
  /** How much older than the tracker a response may be. */
  freshForMs: number;
  /** How long after that the last good value serves while the tracker fails. */
  staleIfErrorMs: number;
  /** Of all that is cached in memory. */
  cacheBytesMax: number;
};

/** The leads area: reading, and taking in what the tracker's webhook reports. */
export type Leads = {
  reader: LeadReader;
  /** What changed. */
  leadFeed: LeadFeed;
  /** Synchronous: when it returns, nothing that the event contradicts is served as fresh. */
  applyEvent(event: TrackerEvent | InstanceChange): void;
  /** Estimated bytes of upstream pages and issues in the cache. */
  cacheBytes(): number;
};

const PAGES_SHARE = 0.25;

export function createLeads(options: LeadsOptions): Leads {
  const { rules, cacheBytesMax, clock } = options;
  const cache = createLeadCache({
    ...options,
    // Should that fail, the next crawl finds out.
    onGone: (number, isCertain) => {
      const before = isCertain ? Infinity : clock.now() - REPLICA_LAG_MAX_MS;
      void hideLead(options.store, number, before).catch(() => undefined);
    },
    bytesMax: Math.floor(cacheBytesMax * (1 - PAGES_SHARE)),
  });
  const reader = createLeadReader({
    ...options,
    cache,
    approvedLabel: rules.approvedLabel,
    deletedLabel: () => foldLabel(rules.deletedLabel),
    pageBytesMax: Math.floor(cacheBytesMax * PAGES_SHARE),
  });
  const leadFeed = createLeadFeed({
    ...options,
    cache,
    reader,
    onItem: options.onFeedItem ?? (() => undefined),
  });
  return {
    reader,
    leadFeed,
    applyEvent: (event) => cache.apply(event),
    cacheBytes: () => cache.bytes,
  };
}
