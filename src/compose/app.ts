/** Makes what a running service has, from the bottom up, before anybody is served. */
import { readLeadGrants } from '#access/consumers/stored-consumers.ts';
import { type Access, createAccess } from '#access/index.ts';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import { createCertificateSigner } from '#adapters/jose/certificates.ts';
import { type BodyReaders, createBodyReaders } from '#adapters/threads/body-readers.ts';
import { createThread } from '#adapters/threads/thread.ts';
import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig, Reloadable } from '#config/reload.ts';
import type { BearerUseCases, TrackerWebhook } from '#http/context.ts';
import type { PartnerRegistry } from '#http/telemetry/partner-metrics.ts';
import { createClaimView } from '#leads/claims/claim-view.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import { createDirectoryFiller, type DirectoryFiller } from '#leads/directory/fill-directory.ts';
import { createLeads, type Leads } from '#leads/index.ts';
import { readRemovalReaders } from '#leads/lead-feed/told-stretches.ts';
import type { LeadRules } from '#leads/model/lead.ts';
import { createPartners, type Partners } from '#partners/index.ts';
import { toPartnerList } from '#partners/partner.ts';
import { createHearing, type Hearing } from '#partners/silence.ts';
import { createTraffic, type Traffic } from '#partners/traffic.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { entryUrl } from '#shared/program.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { Registry } from 'prom-client';
import type * as bodyFunctions from './body-thread.ts';
import type { Store } from './store.ts';
import {
  instanceChangeMetrics,
  leadFeedMetrics,
  leadMetrics,
  outcomeMetrics,
  silenceMetric,
  trackerCallMetrics,
  workerMetrics,
} from './metrics.ts';
import { createTracker, createTrackerWebhook, type Tracker } from './tracker.ts';

/** The ground that a service stands on: its configuration, its log and the open store. */
export type Base = {
  /** Stays as it is when the configuration is read again; the rest is read from `settings`. */
  config: FixedConfig;
  settings: Reloadable<Config>;
  clock: Clock;
  log: Log;
  registry: Registry;
  tracing: Tracing | undefined;
  store: Store;
  /** Takes how each thing is given back that is acquired: last first. */
  cleanup: AsyncDisposableStack;
};

/** All that a service has, whoever serves it: the one record that HTTP, portal, health and stop are made of. */
export type App = Base & {
  tracker: Tracker;
  bodies: BodyReaders;
  leads: Leads;
  claimedLeads: ClaimedLeads;
  filler: DirectoryFiller;
  /** Without it nothing that needs a bearer token is served. One for the API and the portal, which share its threads. */
  bearer: BearerUseCases | undefined;
  access: Access;
  traffic: Traffic;
  hearing: Hearing;
  trackerWebhook: TrackerWebhook;
  partnerRegistry: PartnerRegistry;
  partners: Partners;
};

/**
 * Makes all of it, from what others stand on to what stands on it. Neither the tracker nor the issuer is asked for
 * anything before somebody needs it. `cut` ends calls to the tracker, for a stop that can wait no longer.
 */
export async function createApp(base: Base, cut: AbortSignal): Promise<App> {
  const { settings, clock, log, registry, tracing } = base;
  const instance = newUuid(); // another one for each start
  const onExchange = trackerCallMetrics(registry);
  const tracker = createTracker({ settings, clock, cut, onExchange, tracing, log });
  // One thread, begun with the first large body and ended when none comes.
  const module = entryUrl('compose/body-thread');
  const thread = createThread<typeof bodyFunctions>({ module, clock });
  const bodies = createBodyReaders(thread);
  const { leads, claimedLeads, filler } = composeLeads(base, tracker, instance);
  const bearer = await composeCatalog(base, bodies);
  const access = composeAccess(base);
  const { traffic, hearing } = composeSenders(base, tracker);
  const trackerWebhook = createTrackerWebhook({ settings, tracker, leads, traffic, thread });
  const partnerRegistry = composePartnerRegistry(base);
  const made = { tracker, bodies, leads, claimedLeads, filler, bearer, access, traffic, hearing };
  const app = { ...base, ...made, trackerWebhook, partnerRegistry };
  return { ...app, partners: composePartners(app, instance) };
}

/** Leads on the tracker, with the claims and the directory of the open store. */
function composeLeads(
  { config, settings, store, registry, log, cleanup }: Base,
  tracker: Tracker,
  instance: string,
): Pick<App, 'leads' | 'claimedLeads' | 'filler'> {
  const { leadTracker, repository, clock: trackerTime } = tracker;
  const rules = leadRules(config, settings);
  const leadStore = store.leadsBy(trackerTime);
  const instanceChanges = store.instanceChanges(instance);
  cleanup.defer(() => instanceChanges.close());
  const filler = createDirectoryFiller({
    tracker: leadTracker,
    store: leadStore,
    feedIntervalMs: config.leads.feedInterval,
    hasPartners: () => Object.keys(settings.current().partners).length > 0,
    identifyRepository: () => repository.identify(),
    rules,
    key: store.directoryKey,
    clock: trackerTime,
    log,
  });
  const leads = createLeads({
    onFeedItem: leadFeedMetrics(registry, { listeners: () => leads.leadFeed.listeners() }),
    onGap: instanceChangeMetrics(registry),
    clock: trackerTime,
    log,
    tracker: leadTracker,
    claimView: createClaimView(leadStore),
    filler,
    instanceChanges,
    cursors: store.cursors,
    rules,
    freshForMs: config.leads.freshFor,
    staleIfErrorMs: config.leads.staleIfError,
    cacheBytesMax: config.leads.cacheSizeMax,
    store: leadStore,
    directoryKey: store.directoryKey,
  });
  cleanup.defer(() => leads.leadFeed.close());
  leadMetrics(registry, {
    tracker: leadTracker,
    clockSkewMs: () => tracker.clockSkewMs(),
    cacheBytes: () => leads.cacheBytes(),
  });
  return { leads, claimedLeads: { ...leadStore, cursors: store.cursors }, filler };
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

/**
 * The issuer and the catalog, whose code is loaded where there is an issuer: a fifth of all. No request to
 * the issuer before the first token comes.
 */
async function composeCatalog(
  base: Base,
  { specBody: readSpecBody }: BodyReaders,
): Promise<BearerUseCases | undefined> {
  const { config, settings, clock, log, store, cleanup } = base;
  if (!config.identity) return undefined;
  const { createKeySet } = await import('#adapters/jose/key-set.ts');
  const { createTokenVerifier } = await import('#adapters/jose/token-verifier.ts');
  const { createSpecThreads } = await import('#adapters/threads/spec-threads.ts');
  const { createCatalog } = await import('#catalog/index.ts');
  const { createReadRecord } = await import('#catalog/usage.ts');
  const { issuer, jwksUri, clockTolerance: clockToleranceMs, ...rules } = config.identity;
  const keySet = createKeySet({ issuer, keySetUrl: jwksUri, clock, log });
  cleanup.defer(() => keySet.close());
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: { issuer, ...rules, clockToleranceMs },
  });
  const { database: db } = store;
  const usage = createReadRecord({ db, clock, log });
  cleanup.defer(() => usage.close());
  const catalog = createCatalog({
    db,
    search: store.search,
    cursors: store.cursors,
    rules: () => settings.current().catalog,
    clock,
    ...createSpecThreads({ clock }),
    usage,
  });
  return { verifier, catalog, readSpecBody, idempotency: createIdempotency({ db, clock }) };
}

function composeAccess({ settings, store, clock, log, cleanup }: Base): Access {
  const access = createAccess({
    db: store.database,
    cursors: store.cursors,
    newId: newUuid,
    clock,
    log,
    limitPerMinute: () => settings.current().consumers.limitPerMinute,
  });
  cleanup.defer(() => access.close());
  return access;
}

/** The records of who sends: how often, and when last, by the tracker's clock. */
function composeSenders(
  { store: { database }, clock, log, cleanup }: Base,
  tracker: Tracker,
): Pick<App, 'traffic' | 'hearing'> {
  const traffic = createTraffic({ database, clock, log });
  cleanup.defer(() => traffic.close());
  const hearing = createHearing({ database, clock: tracker.clock, log });
  cleanup.defer(() => hearing.close());
  return { traffic, hearing };
}

/** Partners on the open store and the tracker, by whose clock they go. Nothing works before `start`. */
function composePartners(app: Omit<App, 'partners'>, instance: string): Partners {
  const { config, settings, store, registry, partnerRegistry, tracing, clock, log } = app;
  const { tracker, leads, claimedLeads, filler, traffic, hearing, bodies } = app;
  const { client, adminClient, repository, clock: trackerTime } = tracker;
  const { secretKey, directoryKey, cursors, database: db } = store;
  const sealer = createSealer(deriveKey(secretKey, 'payloads'));
  const seed = deriveKey(secretKey, 'certificates');
  const partners = createPartners({
    partners: settings.derive(toPartnerList),
    rules: () => {
      const { deletedLabel, retry } = settings.current().deletions;
      const labels = { approved: config.leads.approvedLabel, deleted: deletedLabel };
      return { labels, retryMs: retry };
    },
    watchWrite: (write) => store.writes.watch(write),
    db,
    repository: claimedLeads.repository,
    instance,
    sealer,
    workerLease: store.workerLease(instance),
    cursors,
    statusKey: deriveKey(secretKey, 'status'),
    certificates: createCertificateSigner({ seed, db, clock }),
    directoryKey,
    editor: createIssueEditor({ client, adminClient, repository, clock: trackerTime }),
    writeIntervalMs: config.tracker.writeInterval,
    latestCreation: () => tracker.latestCreation(),
    earliestNow: () => tracker.earliestNow(),
    learnTime: () => tracker.learnTime(),
    openReaders: async () => {
      // Readers that were sent something a moment ago have it, before it is in the store.
      await leads.leadFeed.flushTold();
      const consumers = await readLeadGrants(db);
      return (numbers) => readRemovalReaders(claimedLeads, numbers, consumers);
    },
    filler,
    traffic,
    hearing,
    readDelivery: bodies.delivery,
    countOutcome: outcomeMetrics(partnerRegistry),
    random: Math.random,
    tracing,
    clock: trackerTime,
    log,
  });
  workerMetrics({ registry, partners, clock: trackerTime });
  silenceMetric(partnerRegistry, partners, trackerTime);
  return partners;
}

/** Without a port of their own the metrics are public. */
function composePartnerRegistry({ config, settings, registry }: Base): PartnerRegistry {
  return {
    registry,
    namesPartners: config.server.opsPort !== undefined,
    partnerIds: () => Object.keys(settings.current().partners),
  };
}
