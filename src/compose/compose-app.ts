/** Makes what a running service has, from the bottom up: each of those above it. */
import { createAccess } from '#access/index.ts';
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { createThread } from '#adapters/threads/thread.ts';
import type { FixedConfig } from '#config/take-over.ts';
import { createClaimView } from '#leads/claims/claim-view.ts';
import { createDirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createChangeLog } from '#leads/instance-changes/change-log.ts';
import { createInstanceChanges } from '#leads/instance-changes/instance-changes.ts';
import { createLeads } from '#leads/index.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import { createHearing } from '#partners/silence.ts';
import { createTraffic } from '#partners/traffic.ts';
import { newUuid } from '#shared/ids.ts';
import { entryUrl } from '#shared/program.ts';
import type * as bodyFunctions from './body-functions.ts';
import type { App, Base, Bearer } from './app.ts';
import { composePartners } from './partners.ts';
import { directoryKeyOf } from './store.ts';
import {
  instanceChangeMetrics,
  leadFeedMetrics,
  leadMetrics,
  traceTrackerCalls,
  trackerCallMetrics,
} from './telemetry/metrics.ts';
import { createTracker, type Tracker } from './tracker.ts';

/** Makes all of it. `cut` ends calls to the tracker, for a stop that can wait no longer. */
export async function composeApp(base: Base, cut: AbortSignal): Promise<App> {
  const { settings, clock, log, registry, tracing, store, cleanup } = base;
  const measure = trackerCallMetrics(registry);
  const onExchange = tracing ? traceTrackerCalls(tracing, measure) : measure;
  const tracker = createTracker({ settings, clock, cut, onExchange, log });
  const leads = await composeLeads(base, tracker);
  const bearer = await openBearer(base);
  const { database: db, cursors } = store;
  const access = createAccess({
    db,
    cursors,
    newId: newUuid,
    clock,
    log,
    limitPerMinute: () => settings.current().consumers.limitPerMinute,
  });
  cleanup.push('the times of last use', () => access.close());
  const traffic = createTraffic({ database: db, clock, log });
  cleanup.push('the record of traffic', () => traffic.close());
  const hearing = createHearing({ database: db, clock: tracker.clock, log });
  cleanup.push('who was heard of', () => hearing.close());
  const module = entryUrl('compose/body-functions');
  const bodyThread = createThread<typeof bodyFunctions>({ module, clock });
  const bodies = createBodyReaders(bodyThread);
  const app = { ...base, ...leads, tracker, bodies, bodyThread, bearer, access, traffic, hearing };
  return { ...app, partners: composePartners(app) };
}

/** What needs an issuer is loaded where there is one: a fifth of the code. */
async function openBearer(base: Base): Promise<Bearer | undefined> {
  const { identity } = base.config;
  return identity && (await import('./bearer.ts')).composeBearer(base, identity);
}

/** Leads on the tracker, with the claims and the directory of the open store. What other instances learn counts here. */
async function composeLeads(
  { config, settings, store, registry, clock: ownClock, log, cleanup }: Base,
  tracker: Tracker,
): Promise<Pick<App, 'leads' | 'claimedLeads' | 'filler' | 'instanceChanges'>> {
  const { leadTracker, repository, clock } = tracker;
  const rules = leadRules(config, settings);
  const instanceChanges = createInstanceChanges({
    // Each has an id of its own, and so takes what another one appends for changes of another instance.
    changes: createChangeLog(store.database, { instanceId: newUuid() }),
    clock: ownClock,
    log,
  });
  cleanup.push('the changes of instances', () => instanceChanges.close());
  const leads = createLeads({
    onFeedItem: leadFeedMetrics(registry, { listeners: () => leads.leadFeed.listeners() }),
    clock,
    log,
    tracker: leadTracker,
    claims: createClaimView(store.leads),
    instanceChanges,
    cursors: store.cursors,
    rules,
    freshForMs: config.leads.freshFor,
    staleIfErrorMs: config.leads.staleIfError,
    cacheBytesMax: config.leads.cacheSizeMax,
    store: store.leads,
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
    store: store.leads,
    feedIntervalMs: config.leads.feedInterval,
    isMatched: () => Object.keys(settings.current().partners).length > 0,
    identifyRepository: () => repository.identify(),
    rules,
    key: directoryKeyOf(store),
    clock,
    log,
  });
  const claimedLeads = { ...store.leads, cursors: store.cursors };
  const made = { leads, claimedLeads, filler, instanceChanges };
  await followOthers(made, { registry, log });
  return made;
}

/**
 * From now on what other instances on the same store learn counts here, too.
 * @throws {store-unavailable}
 */
async function followOthers(
  { leads, filler, instanceChanges }: Pick<App, 'leads' | 'filler' | 'instanceChanges'>,
  { registry, log }: Pick<Base, 'registry' | 'log'>,
): Promise<void> {
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
function leadRules(config: FixedConfig, settings: Base['settings']): LeadRules {
  return {
    ...config.leads,
    get deletedLabel() {
      return settings.current().deletions.deletedLabel;
    },
  };
}
