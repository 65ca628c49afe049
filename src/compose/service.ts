/**
 * Everything that a running service is made of, from the bottom up. What is acquired here is given
 * back by `stop`, last first.
 */
import { type BodyReaders, createBodyReaders } from '#adapters/threads/body-readers.ts';
import type { Access } from '#access/index.ts';
import { createLimiter } from '#access/limit.ts';
import type { Catalog } from '#catalog/index.ts';
import { type Config, serverUrl } from '#config/schema/schema.ts';
import { type FixedConfig, takeOver, type TakeOver } from '#config/take-over.ts';
import type { TracingChoice } from '#config/tracing.ts';
import { type AppDeps, createApp, createOperationsApp } from '#http/app.ts';
import type { ServerDeps } from '#http/server.ts';
import type { HttpApp } from '#http/http-app.ts';
import type { OperationsDeps } from '#http/routes/operations/routes.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import type { ChangeFeed } from '#leads/feed/change-feed.ts';
import type { Leads } from '#leads/index.ts';
import type { PartnerRoutesDeps } from '#http/routes/partners/routes.ts';
import type { Partners } from '#partners/index.ts';
import type { Traffic } from '#partners/traffic/traffic.ts';
import type { Clock } from '#shared/clock.ts';
import { createRunIds } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { createReloadable, type Reloadable } from '#shared/reloadable.ts';
import type { ReleaseStack } from '#shared/resilience/release-stack.ts';
import type { Tracing } from '#shared/tracing.ts';
import { Registry } from 'prom-client';

import { healthChecks } from './telemetry/health.ts';
import { composeAccess } from './identity/access.ts';
import type { BearerRoutesDeps } from './identity/bearer-routes.ts';
import type { Identity } from './identity/identity.ts';
import { cutInTime, drain, listen } from './server/listen.ts';
import type { LogOutput } from './telemetry/log-output.ts';
import { createRegistry, logMetrics, trackerCallMetrics } from './telemetry/metrics.ts';
import { traceTrackerCalls } from './telemetry/open-tracing.ts';
import { composeLeads, followOthers } from './leads.ts';
import { composePartners } from './partners.ts';
import { openPortal } from './portal/open-portal.ts';
import { openIdentity } from './identity/open-identity.ts';
import type { Store } from './store.ts';
import { composeTraffic } from './traffic.ts';
import { createTrackerParts, type TrackerParts } from './tracker/parts.ts';
import { createTrackerWebhook } from './tracker/webhook.ts';

export type ServiceDeps = {
  config: Config;
  clock: Clock;
  log: Log;
  /** Whose lost lines are counted. */
  logOutput?: Pick<LogOutput, 'droppedLines'>;
  /** See `StoreDeps`. */
  thread?: { module?: URL };
  /** What the environment says of traces; default off. */
  tracing?: TracingChoice;
  /** See `OperationsDeps`. */
  together?: OperationsDeps['together'];
  /** See `ListenDeps`. */
  reusePort?: boolean;
  /** See `ServerDeps`. */
  limits?: ServerDeps['limits'];
};

/** A service that listens. */
export type Service = {
  /** Where it can be reached from this machine. */
  url: string;
  /** What links use: `server.publicUrl`, else `url`. */
  publicUrl: string;
  store: Store;
  access: Access;
  /**
   * Turns `/readyz` to 503, serves on for `server.stopDelay`, lets requests in flight finish and gives
   * everything back, within 10 s of that. Idempotent.
   */
  stop(): Promise<void>;
  /**
   * Takes over what a running service can of another configuration, all or nothing. Calls in flight
   * keep what they began with. @throws {ConfigError} when it does not go with what stays
   */
  reload(next: Config): TakeOver;
};

/** What a service is started with, open already. */
export type Opened = { store: Store; tracing: Tracing | undefined };

/** Makes the rest of the service, and listens. The caller releases what is `held` when that fails. */
export async function serve(
  deps: ServiceDeps,
  { store, tracing }: Opened,
  held: ReleaseStack,
): Promise<Service> {
  const { config, clock, logOutput, reusePort = false } = deps;
  const registry = createRegistry();
  if (logOutput) logMetrics(registry, logOutput);
  const settings = createReloadable(config);
  const cut = new AbortController();
  const parts = await createParts(
    { ...deps, settings, registry, store, tracing, cut: cut.signal },
    held,
  );
  const address: Address = {
    publicUrl: config.server.publicUrl,
    isStopping: false,
    ending: new AbortController(),
  };
  const { app, operationsApp } = await createApps(parts, address);

  await store.opened();
  if (operationsApp) await listenForOperations(parts, operationsApp, held);
  const listening = await listen({ app, ...config.server, reusePort, clock });
  const url = serverUrl(listening);
  const publicUrl = (address.publicUrl ??= url);
  let deadline: number | undefined;
  held.push('the server', () => listening.close(deadline ?? clock.monotonicMs()));
  const stopWork = await startWork(parts, held);

  const stop = async (): Promise<void> => {
    address.isStopping = true;
    deps.log.info({}, 'stopping');
    const delayMs = config.server.stopDelay;
    void cutInTime({ clock, delayMs }, cut);
    void clock.sleep(delayMs, { unref: true }).then(() => address.ending.abort());
    deadline = await drain({ clock, delayMs, load: listening.load, work: stopWork() });
    await held.releaseAll();
    deps.log.info({}, 'stopped');
  };
  const reload: Service['reload'] = (next) => {
    const takenOver = takeOver(settings.current(), next);
    settings.replace(takenOver.config);
    parts.partners.onReload();
    return takenOver;
  };
  let stopped: Promise<void> | undefined;
  return { url, publicUrl, store, access: parts.access, stop: () => (stopped ??= stop()), reload };
}

type Address = {
  publicUrl: string | undefined;
  isStopping: boolean;
  /** Aborted when nobody is to wait for anything any more. */
  ending: AbortController;
};

type PartsDeps = Omit<ServiceDeps, 'config' | 'tracing'> & {
  /** What a reload leaves as it is; the rest is read from `settings`. */
  config: FixedConfig;
  settings: Reloadable<Config>;
  registry: Registry;
  store: Store;
  tracing: Tracing | undefined;
  cut: AbortSignal;
};

type Parts = PartsDeps & {
  tracker: TrackerParts;
  /** Without it nothing that needs a bearer token is served. */
  identity: Identity | undefined;
  /** There where somebody can sign in: one for the API and the portal, which share its threads. */
  catalog: Catalog | undefined;
  bodies: BodyReaders;
  access: Access;
  claimedLeads: ClaimedLeads;
  leads: Leads;
  filler: DirectoryFiller;
  feed: ChangeFeed;
  partners: Partners;
  partnerRoutes: PartnerRoutesDeps;
  traffic: Traffic;
  portal?: AppDeps['portal'];
};

async function createParts(deps: PartsDeps, held: ReleaseStack): Promise<Parts> {
  const { settings, clock, log, registry, store, tracing, cut } = deps;
  const measure = trackerCallMetrics(registry);
  const onExchange = tracing ? traceTrackerCalls(tracing, measure) : measure;
  const tracker = createTrackerParts({ settings, clock, cut, onExchange, log });
  const leadParts = composeLeads({ ...deps, tracker });
  held.push('the change feed', () => leadParts.feed.close());
  held.push('the lead feed', () => leadParts.leads.leadFeed.close());
  await followOthers(leadParts, deps);
  const bodies = createBodyReaders({ clock });
  const identity = await openIdentity(deps, held);
  const catalog = identity && (await openCatalog(deps));
  const limitPerMinute = (): number => settings.current().consumers.limitPerMinute;
  const access = composeAccess({ store, clock, log, limitPerMinute });
  held.push('the times of last use', () => access.close());
  const traffic = composeTraffic(deps, held);
  const { partners, routes: partnerRoutes } = composePartners({
    ...deps,
    clock: tracker.clock,
    traffic,
    tracker,
    filler: leadParts.filler,
    identity,
    bodies,
  });
  const areas = { identity, catalog, bodies, access, ...leadParts, partners, traffic };
  const base = { ...deps, tracker, ...areas };
  return { ...base, partnerRoutes, ...(await openPortal(base, held)) };
}

type Apps = { app: HttpApp; operationsApp?: HttpApp };

async function createApps(parts: Parts, address: Address): Promise<Apps> {
  const { config, clock, log, registry, identity, catalog, bodies } = parts;
  const { access, leads, claimedLeads } = parts;
  const { opsPort, trustProxy, cors, refusedPerMinute } = config.server;
  const refusalLimiter = createLimiter({ clock, limitPerMinute: refusedPerMinute });
  const server: ServerDeps = {
    clock,
    newId: createRunIds(),
    log,
    metrics: registry,
    publicUrl: () => address.publicUrl ?? '',
    corsOrigins: cors,
    trustProxy: typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy],
    refusalLimiter,
    parseJson: bodies.parse,
    tracing: parts.tracing,
    limits: parts.limits,
  };
  const operations: OperationsDeps = {
    metrics: registry,
    together: parts.together,
    isStopping: () => address.isStopping,
    checks: () => healthChecks(parts),
  };
  const app = createApp({
    ...server,
    leads: { access, reader: leads.reader },
    removals: { access, claimedLeads },
    leadFeed: { access, leadFeed: leads.leadFeed, stopping: address.ending.signal },
    trackerWebhook: createTrackerWebhook(parts),
    partners: parts.partnerRoutes,
    portal: parts.portal,
    ...(identity &&
      catalog &&
      (await openBearerRoutes(parts, { identity, catalog, refusalLimiter }))),
    ...(opsPort === undefined && { operations }),
  });
  return opsPort === undefined
    ? { app }
    : {
        app,
        // Its own requests are not worth measuring, and a registry takes each metric once.
        operationsApp: createOperationsApp({ ...server, metrics: new Registry() }, operations),
      };
}

/** Loaded only where it is used. */
async function openCatalog({ settings, clock, store }: PartsDeps): Promise<Catalog> {
  const { composeCatalog } = await import('./catalog.ts');
  return composeCatalog({ rules: () => settings.current().catalog, clock, store });
}

async function openBearerRoutes(
  { partners, ...parts }: Parts,
  {
    identity: { verifier },
    ...rest
  }: { identity: Identity } & Pick<BearerRoutesDeps, 'catalog' | 'refusalLimiter'>,
) {
  const { composeBearerRoutes } = await import('./identity/bearer-routes.ts');
  return composeBearerRoutes({
    ...parts,
    ...rest,
    verifier,
    receipts: partners.receipts,
  });
}

/** Health and metrics come first and go last: they tell of the stop until its end. */
async function listenForOperations(
  { config, clock, reusePort = false }: Parts,
  app: HttpApp,
  held: ReleaseStack,
): Promise<void> {
  const { host, opsPort: port = 0 } = config.server;
  const listening = await listen({ app, host, port, setBy: 'server.opsPort', reusePort, clock });
  held.push('the operations server', () => listening.close(clock.monotonicMs()));
}

/** Returns how to stop: the step under way is finished, the rest is given back. */
async function startWork({ partners }: Parts, held: ReleaseStack): Promise<() => Promise<void>> {
  const stop = (): Promise<void> => partners.stop();
  held.push('the worker', stop);
  await partners.start();
  return stop;
}
