import { monitorEventLoopDelay } from 'node:perf_hooks';
import fastify, { type FastifyHttpOptions, type RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Limiter } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { Log } from '#shared/log.ts';
import { TrackportError } from '#shared/errors.ts';
import { createResponseHooks } from './responses/response-hooks.ts';
import { tellNoWrongLength } from './responses/head-responses.ts';
import { createCors } from './responses/cors.ts';
import { type BodyBudget, createBodyBudget } from './requests/body-budget.ts';
import {
  type ClientErrorDeps,
  createClientErrorHandler,
  createConnectHandler,
} from './problems/client-error.ts';
import { createRenderedSender } from './responses/send-rendered.ts';
import { createEarlyResponses } from './responses/early-responses.ts';
import { createProblemPages } from './problems/problem-pages.ts';
import type { HttpApp, HttpContext } from './http-app.ts';
import { acceptJson, checkBodies, type ParseJson } from './requests/json-body.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { collectOpenApi } from './openapi/collect.ts';
import { schemaCompilers } from './schema-compilers.ts';
import { continueWhenRead } from './requests/continue.ts';
import { watchHangUps } from './requests/hang-up.ts';
import { createQueryParser } from './requests/query-parser.ts';
import { measureBodies } from './telemetry/request-metrics.ts';
import { createBodyReader, releaseBodies } from './requests/read-body.ts';
import { createRefusalLog } from './telemetry/refusal-log.ts';
import { traceRequests } from './telemetry/request-spans.ts';
import { createRefusalLimiter } from './auth/refusal-limiter.ts';
import { asPartnerRefusal } from './routes/partners/routes.ts';
import { validateRequests } from './requests/validate-request.ts';

/** What any of our HTTP servers needs. */
export type ServerDeps = {
  clock: Clock;
  newId: NewId;
  log: Log;
  metrics: Registry;
  /** Without a slash at its end; a function, because a free port is known only when listening. */
  publicUrl: () => string;
  /** As Fastify's: whose `X-Forwarded-*` headers are believed. Default false. */
  trustProxy?: boolean | string | string[];
  /** Whose pages may read leads and the catalog; default nobody's. */
  corsOrigins?: readonly string[];
  limits?: Partial<ServerLimits>;
  /** Refused credentials by address; its default limit is `server.refusedPerMinute`. */
  refusalLimiter: Limiter;
  /** Default: here and now. */
  parseJson?: ParseJson;
  /** Without it requests are not traced. */
  tracing?: Tracing;
};

/** A server with everything but its routes: not listening yet. */
export function createServer(deps: ServerDeps): { app: HttpApp; context: HttpContext } {
  const limits = { ...defaultLimits, ...deps.limits };
  const cors = createCors(deps.corsOrigins ?? []);
  const responseDeps = {
    ...deps,
    cors,
    earlyResponses: createEarlyResponses(),
    problemPages: createProblemPages(),
    refusalLog: createRefusalLog(deps),
  };
  const responseHooks = createResponseHooks(responseDeps);
  const refusals = createRefusalLimiter({ limiter: deps.refusalLimiter });
  const app = fastify({
    ...serverOptions(responseDeps, limits),
    frameworkErrors: (error, request, reply) =>
      responseHooks.onFrameworkError(asPartnerRefusal(refusals, request, error), request, reply),
  }).withTypeProvider<ZodTypeProvider>();
  const readBody = createBodyReader(openBodyBudget(deps, limits));
  app.addHook('onRoute', (route) => {
    releaseBodies(route);
    checkBodies(route);
    validateRequests(route);
    tellNoWrongLength(route);
  });
  collectOpenApi(app);
  if (deps.tracing) traceRequests(app, deps.tracing);
  responseHooks.install(app);
  watchHangUps(app);
  cors.install(app);
  app.server.on('connect', createConnectHandler(responseDeps));
  // Node would respond with 417 by itself, without a problem document (RFC 9110 section 10.1.1: MAY).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  continueWhenRead(app.server);
  installPressureRelief(app, limits);
  acceptJson(app, { read: readBody, parse: deps.parseJson ?? parseJsonText });
  const { publicUrl, clock, log } = deps;
  const { problemPages } = responseDeps;
  const sendRendered = createRenderedSender((request) => cors.headersFor(request));
  return {
    app,
    context: {
      publicUrl,
      clock,
      log,
      refusals,
      readBody,
      sendRendered,
      streamHeaders: (request) => [...(request.headersOut ?? []), ...cors.headersFor(request)],
      problemPages,
    },
  };
}

function openBodyBudget({ metrics }: ServerDeps, limits: ServerLimits): BodyBudget {
  const budget = createBodyBudget(limits.largeBodiesBytesMax);
  measureBodies(metrics, budget);
  return budget;
}

function serverOptions(
  deps: ServerDeps & ClientErrorDeps,
  limits: ServerLimits,
): FastifyHttpOptions<RawServerDefault> {
  return {
    logger: false,
    genReqId: () => deps.newId(),
    requestIdHeader: false,
    trustProxy: deps.trustProxy ?? false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    schemaController: schemaCompilers,
    clientErrorHandler: createClientErrorHandler(deps),
    routerOptions: {
      querystringParser: createQueryParser(),
      maxParamLength: limits.paramBytesMax,
    },
    http: {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.headerBytesMax,
      insecureHTTPParser: false,
      requireHostHeader: false,
    },
  };
}

/**
 * Turns requests away early while the event loop lags, so that those accepted get a response. What has
 * stopped once, by its start or with its machine, goes on at once: one look that finds a lag is not
 * enough.
 */
function installPressureRelief(app: HttpApp, { lagMsMax }: { lagMsMax: number }): void {
  if (lagMsMax === 0) return;
  const lag = watchLoopLag(lagMsMax);
  let looksInARow = 0;
  // Further apart than samples, so that no two looks see the same one.
  const looking = setInterval(() => {
    looksInARow = lag.isOver() ? looksInARow + 1 : 0;
  }, 2 * lagMsMax).unref();
  app.addHook('onRequest', (request, _reply, next) => {
    if (looksInARow < 2 || !lag.isOver()) return next();
    if (request.routeOptions.config.isOperation === true) return next();
    next(
      new TrackportError('overloaded', {
        detail: 'The service has more calls than it can answer in time.',
        retryAfterSeconds: 5,
      }),
    );
  });
  app.addHook('onClose', async () => {
    clearInterval(looking);
    lag.stop();
  });
}

/** How late a timer of so many ms comes is what is measured. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e6;

/** Tells whether the event loop gets to its work too late. Nothing that it does can fail. */
type LoopLag = {
  /** Whether work waited for longer than the limit, on an average over the last sample. */
  isOver(): boolean;
  stop(): void;
};

/** Takes a sample every `lagMsMax`, which is the limit, too. */
function watchLoopLag(lagMsMax: number): LoopLag {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lagMs = 0;
  const sampling = setInterval(() => {
    // Not a number: no timer came at all.
    lagMs = Number.isNaN(delays.mean) ? Infinity : delays.mean / NANOSECONDS - RESOLUTION_MS;
    delays.reset();
  }, lagMsMax).unref();
  return {
    isOver: () => lagMs > lagMsMax,
    stop: () => {
      clearInterval(sampling);
      delays.disable();
    },
  };
}
