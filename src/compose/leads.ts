import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import { type ClaimedLeads, createClaimedLeads } from '#leads/claims/claimed-leads.ts';
import { createDirectoryFiller, type DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { type ChangeFeed, createChangeFeed } from '#leads/feed/change-feed.ts';
import { createLeads, type Leads } from '#leads/index.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Reloadable } from '#shared/reloadable.ts';
import type { Registry } from 'prom-client';

import { directoryKeyOf, type Store } from './store.ts';
import { changeFeedMetrics, leadFeedMetrics, leadMetrics } from './telemetry/metrics.ts';
import type { TrackerParts } from './tracker/parts.ts';

export type LeadsDeps = {
  config: FixedConfig;
  settings: Reloadable<Config>;
  store: Store;
  tracker: Pick<TrackerParts, 'leadTracker' | 'repository' | 'clock' | 'clockSkewMs'>;
  registry: Registry;
  clock: Clock;
  log: Log;
};

export type LeadParts = {
  leads: Leads;
  claimedLeads: ClaimedLeads;
  filler: DirectoryFiller;
  /** Not subscribed yet: see `followOthers`. */
  feed: ChangeFeed;
};

/** Leads on the tracker, with the claims and the directory of the open store. */
export function composeLeads(deps: LeadsDeps): LeadParts {
  const { config, settings, store, tracker, registry, log } = deps;
  const { stores, cursors } = store;
  const { leadTracker, repository, clock, clockSkewMs } = tracker;
  const rules = leadRules(deps);
  const claims = stores.claims();
  const feed = createChangeFeed({ changes: stores.changes(), clock: deps.clock, log });
  const changes = stores.leadFeed();
  const leads = createLeads({
    onFeedItem: leadFeedMetrics(registry, { listeners: () => leads.leadFeed.listeners() }),
    clock,
    tracker: leadTracker,
    claims,
    feed,
    cursors,
    rules,
    freshForMs: config.leads.freshFor,
    staleIfErrorMs: config.leads.staleIfError,
    cacheBytesMax: config.leads.cacheSizeMax,
    changes,
    identify: () => filler.identify(),
  });
  leadMetrics(registry, {
    tracker: leadTracker,
    clockSkewMs,
    cacheBytes: () => leads.cacheBytes(),
  });
  const filler = createDirectoryFiller({
    tracker: leadTracker,
    directory: stores.directory(),
    changes,
    feedIntervalMs: config.leads.feedInterval,
    isMatched: () => Object.keys(settings.current().partners).length > 0,
    identifyRepository: () => repository.identify(),
    rules,
    key: directoryKeyOf(store),
    clock,
    log,
  });
  return { leads, claimedLeads: createClaimedLeads({ claims, cursors, clock }), filler, feed };
}

/**
 * From now on what other instances on the same store learn counts here, too.
 * @throws {store-unavailable}
 */
export async function followOthers(
  { leads, filler, feed }: Pick<LeadParts, 'leads' | 'filler' | 'feed'>,
  { registry, log }: Pick<LeadsDeps, 'registry' | 'log'>,
): Promise<void> {
  const countGap = changeFeedMetrics(registry);
  // The directory is in the store already; the repository behind the name is not.
  const forgetEverything = (): void => {
    leads.applyEvent({ kind: 'everything' });
    filler.apply({ kind: 'everything' });
  };
  await feed.subscribe({
    onChange: (change) =>
      change.kind === 'everything' ? forgetEverything() : leads.applyEvent(change),
    onGap: () => {
      countGap();
      log.warn({}, 'changes of other instances were missed');
      forgetEverything();
    },
  });
}

/** The label that a reload replaces counts from the next look on, for what is cached too. */
function leadRules({ config, settings }: Pick<LeadsDeps, 'config' | 'settings'>): LeadRules {
  return {
    ...config.leads,
    get deletedLabel() {
      return settings.current().deletions.deletedLabel;
    },
  };
}
