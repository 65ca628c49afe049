import type { KeyObject } from 'node:crypto';
import type { TrackerTime } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import type { ClaimView } from './claims/claim-view.ts';
import type { DirectoryFiller } from './directory/fill-directory.ts';
import { type InstanceChange, type InstanceChanges, toInstanceChange } from './instance-changes.ts';
import { createLeadFeed, type LeadFeed } from './lead-feed/lead-feed.ts';
import { hideLeadNow } from './lead-feed/stored-changes.ts';
import type { LeadStore } from './lead-store.ts';
import { type LeadTracker, REPLICA_LAG_MAX_MS, type TrackerEvent } from './lead-tracker.ts';
import type { LeadRules } from './model/lead.ts';
import { createLeadCache } from './reading/lead-cache.ts';
import { createLeadReader, type LeadReader } from './reading/lead-reader.ts';

type LeadsOptions = {
  clock: TrackerTime;
  log: Log;
  tracker: LeadTracker;
  claimView: ClaimView;
  filler: Pick<DirectoryFiller, 'identify' | 'apply' | 'takeRead' | 'settled'>;
  instanceChanges: InstanceChanges;
  cursors: CursorSealer;
  store: LeadStore;
  /** The sub-key that leads are digested with. */
  directoryKey: KeyObject;
  /** Called for each item of the feed; `lagMs` since its change, on a stream that had all before it. */
  onFeedItem?: (lagMs?: number) => void;
  /** Called when changes of other instances were missed. */
  onGap?: () => void;
  rules: LeadRules;
  /** Age of a response at most. */
  freshForMs: number;
  /** Time after that for which the last good value serves while the tracker fails. */
  staleIfErrorMs: number;
  /** Of all that is cached in memory. */
  cacheBytesMax: number;
};

/** The leads area: reading, and taking in what the tracker's webhook and other instances report. */
export type Leads = {
  reader: LeadReader;
  leadFeed: LeadFeed;
  /**
   * Takes in what the tracker's webhook said: when it returns, nothing that the event contradicts is served as fresh
   * here. The directory and the other instances learn of it behind that.
   */
  applyEvent(event: TrackerEvent): void;
  /**
   * From now on what other instances on the same store learn counts here, too. Once, before anything is cached.
   * @throws {store-unavailable}
   */
  followOthers(): Promise<void>;
  /** Resolves when all that came of the events so far is in the store, or given up. */
  settled(): Promise<void>;
  /** To be called after the settings were replaced: a new credential for the tracker is tried at once. */
  onReload(): void;
  /** Estimated bytes of upstream pages and issues in the cache. */
  cacheBytes(): number;
};

const PAGES_SHARE = 0.25;

export function createLeads(options: LeadsOptions): Leads {
  const { clock, tracker, store, rules, cursors, cacheBytesMax } = options;
  const { freshForMs, staleIfErrorMs, directoryKey, filler, instanceChanges, claimView } = options;
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
      void hideLeadNow(store, number, before).catch(() => undefined);
    },
    onRead: (issues) => filler.takeRead(issues),
  });
  const reader = createLeadReader(
    {
      clock,
      leadCache: cache,
      claimView,
      cursors,
      rules,
      instanceChanges,
    },
    Math.floor(cacheBytesMax * PAGES_SHARE),
  );
  const leadFeed = createLeadFeed(
    { store, cache, reader, claimView, clock, directoryKey, identify: () => filler.identify() },
    { cursors, log: options.log, onItem: options.onFeedItem ?? (() => undefined) },
  );
  return {
    reader,
    leadFeed,
    applyEvent: (event) => {
      cache.apply(event);
      filler.apply(event);
      const change = toInstanceChange(event);
      if (change) instanceChanges.publish(change);
    },
    followOthers: () => followOthers(options, (change) => cache.apply(change)),
    settled: async () => {
      await Promise.all([filler.settled(), instanceChanges.settled()]);
    },
    onReload: () => cache.askAgain(),
    cacheBytes: () => cache.bytes,
  };
}

/**
 * The counterpart of `applyEvent` on the other instances: who publishes a change puts it into the directory, which is in
 * the store, and has others told of the leads once it is there. The repository behind the name is asked for anew.
 */
async function followOthers(
  { instanceChanges, filler, log, onGap }: LeadsOptions,
  applyToCache: (change: InstanceChange) => void,
): Promise<void> {
  const onChange = (change: InstanceChange): void => {
    applyToCache(change);
    if (change.kind === 'everything') filler.apply(change);
  };
  await instanceChanges.follow({
    onChange,
    onGap: () => {
      onGap?.();
      log.warn({}, 'changes of other instances were missed');
      onChange({ kind: 'everything' });
    },
  });
}
