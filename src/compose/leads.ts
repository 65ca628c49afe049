import { createClaimView } from '#leads/claims/claim-view.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createInstanceChanges } from '#leads/instance-changes/instance-changes.ts';
import { createLeads } from '#leads/index.ts';
import type { LeadRules } from '#leads/model/lead.ts';

import type { BaseParts, ServiceParts } from './parts.ts';
import { directoryKeyOf } from './store.ts';
import { instanceChangeMetrics, leadFeedMetrics, leadMetrics } from './telemetry/metrics.ts';

/** Leads on the tracker, with the claims and the directory of the open store. */
export function composeLeads(
  parts: BaseParts & Pick<ServiceParts, 'tracker'>,
): Pick<ServiceParts, 'leads' | 'claimedLeads' | 'filler' | 'instanceChanges'> {
  const { config, settings, store, tracker, registry, log, cleanup } = parts;
  const { stores, cursors } = store;
  const { leadTracker, repository, clock } = tracker;
  const rules = leadRules(parts);
  const claims = createClaimView(stores.leads);
  const instanceChanges = createInstanceChanges({
    changes: stores.instanceChanges(),
    clock: parts.clock,
    log,
  });
  cleanup.push('the changes of instances', () => instanceChanges.close());
  const leads = createLeads({
    onFeedItem: leadFeedMetrics(registry, { listeners: () => leads.leadFeed.listeners() }),
    clock,
    log,
    tracker: leadTracker,
    claims,
    instanceChanges,
    cursors,
    rules,
    freshForMs: config.leads.freshFor,
    staleIfErrorMs: config.leads.staleIfError,
    cacheBytesMax: config.leads.cacheSizeMax,
    store: stores.leads,
    lookKey: directoryKeyOf(store),
    identify: () => filler.identify(),
  });
  cleanup.push('the lead feed', () => leads.leadFeed.close());
  leadMetrics(registry, {
    tracker: leadTracker,
    clockSkewMs: () => tracker.clockSkewMs(),
    cacheBytes: () => leads.cacheBytes(),
  });
  const filler = createDirectoryFiller({
    tracker: leadTracker,
    store: stores.leads,
    feedIntervalMs: config.leads.feedInterval,
    isMatched: () => Object.keys(settings.current().partners).length > 0,
    identifyRepository: () => repository.identify(),
    rules,
    key: directoryKeyOf(store),
    clock,
    log,
  });
  return {
    leads,
    claimedLeads: { ...stores.leads, cursors },
    filler,
    instanceChanges,
  };
}

/**
 * From now on what other instances on the same store learn counts here, too.
 * @throws {store-unavailable}
 */
export async function followOthers({
  leads,
  filler,
  instanceChanges,
  registry,
  log,
}: Pick<ServiceParts, 'leads' | 'filler' | 'instanceChanges' | 'registry' | 'log'>): Promise<void> {
  const countGap = instanceChangeMetrics(registry);
  // The directory is in the store already; the repository behind the name is not.
  const forgetEverything = (): void => {
    leads.applyEvent({ kind: 'everything' });
    filler.apply({ kind: 'everything' });
  };
  await instanceChanges.subscribe({
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
function leadRules({ config, settings }: Pick<BaseParts, 'config' | 'settings'>): LeadRules {
  return {
    ...config.leads,
    get deletedLabel() {
      return settings.current().deletions.deletedLabel;
    },
  };
}
