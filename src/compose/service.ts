/**
 * The composition root. A start: configuration and log, then in `open` the store (`store.ts`), all that stands on it
 * (`app.ts`), the servers and the worker, each in its place; then reloading. What is acquired is given back last first,
 * by a stop (`stop.ts`) as well as by a start that fails half-way.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Access } from '#access/index.ts';
import { type Config, serverUrl } from '#config/schema/schema.ts';
import { createReloadable, takeOver, type TakeOver } from '#config/reload.ts';
import { type Environment, readTracing, type TracingChoice } from '#config/environment.ts';
import { ConfigError, renderProblem } from '#config/problems.ts';
import { configWarnings } from '#config/warnings.ts';
import { createOperationsServer, createPublicServer, type ServerOptions } from '#http/server.ts';
import type { Area, HttpApp, UseCases } from '#http/context.ts';
import { createServiceReports, type ServiceReports } from '#http/routes/operations.ts';
import { watchLoad } from '#http/server-load.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { COMMIT, VERSION } from '#shared/program.ts';
import type { Tracing } from '#shared/tracing.ts';
import { createLog, type LevelLog, type LogOutput } from '#adapters/pino/log.ts';
import { type App, createApp } from './app.ts';
import { listenError, type PortSetter, storeError } from './start-error.ts';
import { openServiceStore, type ServiceOpening, type Store } from './store.ts';
import { healthChecks } from './health.ts';
import { logMetrics } from './metrics.ts';
import { closeInTime, giveUpStart, giveUpStop, stop, type Stopping } from './stop.ts';

/** This process, as a command finds it. */
export type Program = { clock: Clock; environment: Environment; logOutput: LogOutput };

/**
 * Starts the service of a configuration, which is the work of `trackport serve`. `load` reads that, now and for each
 * reload: the file, above it the environment, below both the defaults.
 * @throws {ConfigError} with every problem of it @throws {StartError} in one line, with what to do
 */
export async function startConfigured(
  { clock, environment, logOutput }: Program,
  load: () => Config,
  stopping: AbortSignal,
) {
  const config = load();
  const log = createLog(config.server.logLevel, logOutput); // standard output is its own from here on
  logWarnings(log, config, clock);
  const tracing = readTracing(environment);
  const starting = startService({ config, clock, log, logOutput, tracing, stopping });
  const service = await Promise.race([starting, giveUpStart(clock, stopping)]);
  const { url, publicUrl } = service;
  const portal = config.portal && { portal: `${publicUrl}/portal` };
  log.info({ version: VERSION, commit: COMMIT, ...portal, url }, 'listening');
  const delayMs = config.server.stopDelay;
  return {
    stop: () => Promise.race([service.stop(), giveUpStop(clock, delayMs, log)]),
    reload: () => reloadAndTell(service, load, { clock, log }),
  };
}

/** Tells of settings that are allowed and likely not meant. */
function logWarnings(log: Log, config: Config, clock: Clock): void {
  for (const { key, text } of configWarnings(config, clock.now())) log.warn({ key }, text);
}

type Start = ServiceOpening & {
  config: Config;
  /** Whose lost lines are counted. */
  logOutput?: Pick<LogOutput, 'droppedLines'>;
  /** Of the environment; default off. */
  tracing?: TracingChoice;
  /** See `ServerOptions`. */
  limits?: ServerOptions['limits'];
};

/** A service that listens. */
export type Service = {
  /** Its address on this machine. */
  url: string;
  /** The address in links: `server.publicUrl`, else `url`. */
  publicUrl: string;
  store: Store;
  access: Access;
  /**
   * Turns `/readyz` to 503, serves on for `server.stopDelay`, lets requests in flight finish and gives
   * everything back, within 10 s of that unless the store does not respond. Idempotent.
   */
  stop(): Promise<void>;
  /**
   * Takes over what a running service can of another configuration, all or nothing. Calls in flight
   * keep what they began with. @throws {ConfigError} when it does not go with what stays
   */
  reload(next: Config): TakeOver;
};

/** Starts the whole service. @throws {StartError} in one line, with what to do */
export async function startService(start: Start): Promise<Service> {
  const cleanup = new AsyncDisposableStack();
  try {
    return await open(start, cleanup);
  } catch (error) {
    await cleanup.disposeAsync().catch(() => undefined);
    throw storeError(error, start.config.store.url); // of what begins on the open store, too
  }
}

async function open(start: Start, cleanup: AsyncDisposableStack): Promise<Service> {
  const { config, clock, log, logOutput } = start;
  const tracing = await openTracing(start, cleanup); // given back last: it tells of the stop
  // Locked where it is a file, migrated, and known to be of this `secretKey`, which is made for a new file.
  const store = await openServiceStore(start);
  cleanup.defer(() => store.close());
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (logOutput) logMetrics(registry, logOutput);
  const settings = createReloadable(config); // what a reload replaces, with all that is derived from it
  const stopping: Stopping = {
    hasBegun: false,
    ending: new AbortController(),
    cut: new AbortController(),
  };
  // Everything is there, and nothing works on deliveries yet or asks the tracker.
  const base = { config, settings, clock, log, registry, tracing, store, cleanup };
  const app = await createApp(base, stopping.cut.signal);
  start.stopping?.throwIfAborted();
  await app.leads.followOthers(); // what other instances learn counts from now on; SQLite has none
  let { publicUrl } = config.server; // else known when it listens
  const serving = { publicUrl: () => publicUrl ?? '', limits: start.limits, stopping };
  const servers = await createServers(app, serving);
  if (servers.operations) await listenForOperations(app, servers.operations);
  const load = watchLoad(servers.public.server); // requests in flight, for the stop
  // Ready at once: for `/readyz` it is enough that the store takes reads and writes.
  const url = serverUrl(await listen(servers.public, config.server));
  publicUrl ??= url;
  cleanup.defer(() => app.partners.stop()); // of a start that fails; a stop has begun with it
  // Given back before all others: no connection is to wait for them.
  const close = () => closeInTime(servers.public, clock, stopping.deadline ?? clock.monotonicMs());
  cleanup.defer(close);
  // Matching, acting, the crawl and the purge begin, or this instance of several stands by and looks every two seconds.
  await app.partners.start();
  let stopped: Promise<void> | undefined;
  return {
    url,
    publicUrl,
    store,
    access: app.access,
    stop: () => (stopped ??= stop(app, stopping, load)),
    reload: (next) => reload(app, next),
  };
}

/** Undefined where traces are off: then no package of OpenTelemetry's SDK is loaded. */
async function openTracing(
  { tracing: { settings, unsupported } = {}, clock, log }: Start,
  cleanup: AsyncDisposableStack,
): Promise<Tracing | undefined> {
  if (unsupported !== undefined)
    log.warn({ variable: unsupported }, 'traces are off: the value is not supported');
  if (!settings) return undefined;
  const { createTracing } = await import('#adapters/opentelemetry/tracing.ts');
  const tracing = createTracing({ settings, clock, log });
  cleanup.defer(() => tracing.close());
  return tracing;
}

/** Everything that is served: one server, or with `server.opsPort` a second one for health and metrics. */
async function createServers(
  app: App,
  {
    publicUrl,
    limits,
    stopping,
  }: Pick<ServerOptions, 'publicUrl' | 'limits'> & { stopping: Stopping },
): Promise<{ public: HttpApp; operations?: { fastify: HttpApp; port: number } }> {
  const { config, clock, log, registry, tracing, bodies, bearer } = app;
  const { access, leads, claimedLeads, partners, partnerRegistry, trackerWebhook } = app;
  const { opsPort, trustProxy, cors, refusedPerMinute, securityContact } = config.server;
  const options: ServerOptions = {
    clock,
    log,
    metrics: registry,
    tracing,
    newId: newUuid,
    publicUrl,
    trustProxy: typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy],
    corsOrigins: cors,
    limits,
    refusedPerMinute,
    parseJson: bodies.parse,
  };
  const reports = createServiceReports({
    metrics: registry,
    checks: () => healthChecks(app),
    isStopping: () => stopping.hasBegun,
    clock,
    log,
  });
  const useCases: UseCases = {
    access,
    leads,
    claimedLeads,
    partners,
    partnerRegistry,
    trackerWebhook,
    ending: stopping.ending.signal,
    bearer,
    securityContact,
  };
  const portal = await openPortal(app, reports);
  if (opsPort === undefined)
    return { public: createPublicServer(options, useCases, { portal, operations: reports }) };
  // Its own requests are not worth measuring, and a registry takes each metric once.
  const fastify = createOperationsServer({ ...options, metrics: new Registry() }, reports);
  const operations = { fastify, port: opsPort };
  return { public: createPublicServer(options, useCases, { portal }), operations };
}

/** Loaded where one is configured: nobody else pays for it. From now on it forgets sessions that are over, once an hour. */
async function openPortal(app: App, { readiness }: ServiceReports): Promise<Area | undefined> {
  const { bearer, config } = app;
  const { portal, identity: rules } = config;
  if (!bearer || !portal || !rules) return undefined;
  const { composePortal } = await import('./portal.ts');
  return composePortal(app, { ...bearer, portal, rules, readiness });
}

/** Health and metrics come first, and tell of a stop until the public server has ended. */
async function listenForOperations(
  { config, clock, cleanup }: App,
  { fastify, port }: { fastify: HttpApp; port: number },
): Promise<void> {
  const { host } = config.server;
  await listen(fastify, { host, port, setBy: 'server.opsPort' });
  cleanup.defer(() => closeInTime(fastify, clock, clock.monotonicMs()));
}

/** Starts listening; port 0 becomes a free one. `setBy` is by default `--port`. @throws {StartError} */
async function listen(
  fastify: HttpApp,
  { host, port, setBy }: { host: string; port: number; setBy?: PortSetter },
): Promise<{ host: string; port: number }> {
  try {
    await fastify.listen({ host, port });
  } catch (error) {
    await fastify.close().catch(() => undefined);
    throw listenError(error, { host, port, setBy });
  }
  const address = fastify.server.address();
  return { host, port: typeof address === 'object' && address !== null ? address.port : port };
}

/** @see Service.reload */
function reload({ settings, tracker, leads, partners }: App, next: Config): TakeOver {
  const takenOver = takeOver(settings.current(), next);
  settings.replace(takenOver.config);
  // Whoever waits for the tracker hears here that its credential may be another one.
  for (const area of [tracker, leads, partners]) area.onReload();
  return takenOver;
}

/**
 * Reads the configuration again and takes over what a running service can. A configuration that is
 * wrong changes nothing. The result is one line of the log, with keys and without values.
 */
function reloadAndTell(
  service: Service,
  load: () => Config,
  { clock, log }: { clock: Clock; log: LevelLog },
): void {
  try {
    const { config, ...taken } = service.reload(load());
    log.setLevel(config.server.logLevel);
    logWarnings(log, config, clock);
    const changed = taken.changed.join(', ');
    const restartNeeded = taken.restartNeeded.join(', ');
    if (restartNeeded === '') log.info({ changed }, 'configuration reloaded');
    else log.warn({ changed, restartNeeded }, 'configuration reloaded: some keys need a restart');
  } catch (error) {
    const fields =
      error instanceof ConfigError
        ? { problems: error.problems.map(renderProblem).join('; ') }
        : errorFields(error);
    log.error(fields, 'configuration not reloaded: nothing was changed');
  }
}
