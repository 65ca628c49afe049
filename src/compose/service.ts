/** Everything that a running service does, once its store is open: it listens, works, and stops. */
import type { Access } from '#access/index.ts';
import { createLimiter } from '#access/limit.ts';
import { type Config, serverUrl } from '#config/schema/schema.ts';
import { takeOver, type TakeOver } from '#config/take-over.ts';
import type { TracingChoice } from '#config/tracing.ts';
import { type AppDeps, createApp, createOperationsApp } from '#http/app.ts';
import type { HttpApp } from '#http/context.ts';
import { createServiceReports, type ServiceReports } from '#http/readiness.ts';
import type { ServerDeps } from '#http/server.ts';
import type { Clock } from '#shared/clock.ts';
import { createRunIds } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { createReloadable } from '#shared/reloadable.ts';
import type { CleanupStack } from '#shared/resilience/cleanup-stack.ts';
import type { Tracing } from '#shared/tracing.ts';
import { Registry } from 'prom-client';
import { partnerRegistry } from './partners.ts';
import type { ServiceParts } from './parts.ts';
import { createServiceParts } from './service-parts.ts';
import { cutInTime, drain, listen } from './server/listen.ts';
import type { Store } from './store.ts';
import { healthChecks } from './telemetry/health.ts';
import type { LogOutput } from './telemetry/log.ts';
import { createRegistry, logMetrics } from './telemetry/metrics.ts';
import { createTrackerWebhook } from './tracker/webhook.ts';

export type ServiceDeps = {
  config: Config;
  clock: Clock;
  log: Log;
  /** Whose lost lines are counted. */
  logOutput?: Pick<LogOutput, 'droppedLines'>;
  /** See `StoreDeps`. */
  thread?: { module?: URL };
  /** Ends the wait for another service that has the store. */
  stopping?: AbortSignal | undefined;
  /** What the environment says of traces; default off. */
  tracing?: TracingChoice;
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

/** Makes the rest of the service, and listens. The caller releases what is in `cleanup` when that fails. */
export async function serve(
  deps: ServiceDeps,
  { store, tracing }: Opened,
  cleanup: CleanupStack,
): Promise<Service> {
  const { config, clock, log, logOutput } = deps;
  const registry = createRegistry();
  if (logOutput) logMetrics(registry, logOutput);
  const settings = createReloadable(config);
  const cut = new AbortController();
  const base = { config, settings, clock, log, registry, tracing, store, cleanup };
  const parts = await createServiceParts(base, cut.signal);
  const address: Address = {
    publicUrl: config.server.publicUrl,
    isStopping: false,
    ending: new AbortController(),
  };
  const { app, operationsApp } = await createApps(parts, address, {
    limits: deps.limits,
  });

  await store.opened();
  if (operationsApp) await listenForOperations(parts, operationsApp);
  const listening = await listen({ app, ...config.server, clock });
  const url = serverUrl(listening);
  const publicUrl = (address.publicUrl ??= url);
  let deadline: number | undefined;
  cleanup.push('the server', () => listening.close(deadline ?? clock.monotonicMs()));
  const stopWork = await startWork(parts);

  const stop = async (): Promise<void> => {
    address.isStopping = true;
    log.info({}, 'stopping');
    const delayMs = config.server.stopDelay;
    void cutInTime({ clock, delayMs }, cut);
    void clock.sleep(delayMs, { unref: true }).then(() => address.ending.abort());
    deadline = await drain({ clock, delayMs, load: listening.load, work: stopWork() });
    await cleanup.releaseAll();
    log.info({}, 'stopped');
  };
  const reload: Service['reload'] = (next) => {
    const takenOver = takeOver(settings.current(), next);
    settings.replace(takenOver.config);
    parts.tracker.onReload();
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

type Apps = { app: HttpApp; operationsApp?: HttpApp };

async function createApps(
  parts: ServiceParts,
  address: Address,
  { limits }: Pick<ServiceDeps, 'limits'>,
): Promise<Apps> {
  const { config, clock, registry, bearer, bodies, store } = parts;
  const { opsPort, trustProxy, cors, refusedPerMinute } = config.server;
  const server: ServerDeps = {
    ...parts,
    newId: createRunIds(),
    metrics: registry,
    publicUrl: () => address.publicUrl ?? '',
    corsOrigins: cors,
    trustProxy: typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy],
    refusalLimiter: createLimiter({ clock, limitPerMinute: refusedPerMinute }),
    parseJson: bodies.parse,
    limits,
  };
  const reports = createServiceReports(parts, {
    metrics: registry,
    checks: () => healthChecks(parts),
    isStopping: () => address.isStopping,
  });
  const app = createApp({
    ...parts,
    ...server,
    partnerRegistry: partnerRegistry(parts),
    trackerWebhook: createTrackerWebhook(parts),
    ending: address.ending.signal,
    bearer: bearer && {
      verifier: bearer.identity.verifier,
      catalog: bearer.catalog,
      readSpecBody: bodies.specBody,
      idempotency: store.stores.idempotency(),
    },
    portal: await openPortal(parts, reports),
    operations: opsPort === undefined ? reports : undefined,
    securityContact: config.server.securityContact,
  });
  if (opsPort === undefined) return { app };
  // Its own requests are not worth measuring, and a registry takes each metric once.
  const operationsApp = createOperationsApp({ ...server, metrics: new Registry() }, reports);
  return { app, operationsApp };
}

/** Loaded where one is configured: nobody else pays for it. */
async function openPortal(
  parts: ServiceParts,
  { readiness }: Pick<ServiceReports, 'readiness'>,
): Promise<AppDeps['portal']> {
  const { bearer, config } = parts;
  const { portal, identity: rules } = config;
  if (!bearer || !portal || !rules) return undefined;
  const { composePortal } = await import('./portal.ts');
  return composePortal({ ...parts, ...bearer, portal, rules, readiness });
}

/** Health and metrics come first and go last: they tell of the stop until its end. */
async function listenForOperations(
  { config, clock, cleanup }: ServiceParts,
  app: HttpApp,
): Promise<void> {
  const { host, opsPort: port = 0 } = config.server;
  const listening = await listen({ app, host, port, setBy: 'server.opsPort', clock });
  cleanup.push('the operations server', () => listening.close(clock.monotonicMs()));
}

/** Returns how to stop: the step under way is finished, the rest is given back. */
async function startWork({ partners, cleanup }: ServiceParts): Promise<() => Promise<void>> {
  const stop = (): Promise<void> => partners.stop();
  cleanup.push('the worker', stop);
  await partners.start();
  return stop;
}
