import type { Server } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parse } from 'node:querystring';
import fastify, {
  type FastifyHttpOptions,
  type onSendHookHandler,
  type RawServerDefault,
  type RouteOptions,
  type FastifyServerOptions,
} from 'fastify';
import { type ZodTypeProvider, serializerCompiler } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Limiter } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { Log } from '#shared/log.ts';
import { TrackportError } from '#shared/errors.ts';
import { createResponseHooks } from './responses/response-hooks.ts';
import { createUnread } from './responses/unread.ts';
import { createCors } from './responses/cors.ts';
import {
  type BodyBudget,
  createBodyBudget,
  createBodyReader,
  releaseBodies,
} from './requests/read-body.ts';
import {
  type ClientErrorDeps,
  createClientErrorHandler,
  createConnectHandler,
} from './problems/client-error.ts';
import type { ProblemPage } from './problems/problem.ts';
import { decorateRequests, type HttpApp, type HttpContext } from './context.ts';
import { acceptJson, checkBodies, type ParseJson } from './requests/json-body.ts';
import { defaultLimits, type ServerLimits } from './limits.ts';
import { measureBodies, createRefusalLog, traceRequests } from './telemetry/requests.ts';
import { createRefusalLimiter } from './auth/refusal-limiter.ts';
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
  const earlyErrors: HttpContext['earlyErrors'] = new Set();
  const responseDeps = {
    ...deps,
    cors: createCors(deps.corsOrigins ?? []),
    answeredEarly: new WeakMap(),
    problemPages: new Set<ProblemPage>(),
    refusalLog: createRefusalLog(deps),
  };
  const responseHooks = createResponseHooks(responseDeps);
  const rethrowRefusal = createRefusalLimiter(deps.refusalLimiter);
  const app = fastify({
    ...serverOptions(responseDeps, limits),
    frameworkErrors: (error, request, reply) =>
      responseHooks.onFrameworkError(
        [...earlyErrors].reduce((failure, change) => change(request, failure), error as unknown),
        request,
        reply,
      ),
  }).withTypeProvider<ZodTypeProvider>();
  decorateRequests(app);
  const readBody = createBodyReader(openBodyBudget(deps, limits));
  app.addHook('onRoute', (route) => {
    releaseBodies(route);
    checkBodies(route);
    validateRequests(route);
    tellNoWrongLength(route);
  });
  collectRoutes(app);
  if (deps.tracing) traceRequests(app, deps.tracing);
  responseHooks.install(app);
  app.server.on('connect', createConnectHandler(responseDeps));
  // Node would respond with 417 by itself, without a problem document (RFC 9110 section 10.1.1: MAY).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  continueWhenRead(app.server);
  installPressureRelief(app, limits);
  acceptJson(app, { read: readBody, parse: deps.parseJson ?? parseJsonText });
  const { publicUrl, clock, log, metrics } = deps;
  const { problemPages } = responseDeps;
  return {
    app,
    context: {
      publicUrl,
      clock,
      log,
      metrics,
      rethrowRefusal,
      readBody,
      unread: createUnread(),
      problemPages,
      earlyErrors,
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
      querystringParser: (text) => parse(text, '&', '=', { maxKeys: 0 }),
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

/** The event loop lags by as much as a timer of so many ms comes late. */
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
/** In a row: a single one comes of a start, or of a machine that was paused, and is over when it is seen. */
const LATE_SAMPLES_MIN = 3;

/** Turns requests away early while the event loop lags, so that those accepted get a response. */
function installPressureRelief(app: HttpApp, { lagMsMax }: { lagMsMax: number }): void {
  if (lagMsMax === 0) return;
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lateSamples = 0;
  const sampling = setInterval(() => {
    // Not a number: no timer came at all.
    const lagMs = Number.isNaN(delays.mean)
      ? Infinity
      : delays.mean / NANOSECONDS_PER_MS - RESOLUTION_MS;
    lateSamples = lagMs > lagMsMax ? lateSamples + 1 : 0;
    delays.reset();
  }, lagMsMax).unref();
  app.addHook('onRequest', (request, _reply, next) => {
    const isOperation = request.routeOptions.config.isOperation === true;
    if (lateSamples < LATE_SAMPLES_MIN || isOperation) return next();
    next(
      new TrackportError('overloaded', {
        detail: 'The service has more calls than it can answer in time.',
        retryAfterSeconds: 5,
      }),
    );
  });
  app.addHook('onClose', async () => {
    clearInterval(sampling);
    delays.disable();
  });
}

/** Notes all routes that are registered later, for the document of them. */
function collectRoutes(app: HttpApp): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.decorate('routes', routes);
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Complete when the instance is ready. */
    routes: readonly RouteOptions[];
  }
}

/**
 * A client that asks first (`Expect: 100-continue`) is told to go on when its body is about to be read: what
 * can be refused without it was refused by then. Who is refused may keep the body, so the connection ends.
 * @see RFC 9110 section 10.1.1
 */
function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    response.setHeader('connection', 'close');
    request.once('resume', () => {
      if (response.headersSent) return; // Node throws the rest away
      response.removeHeader('connection');
      response.writeContinue();
    });
    server.emit('request', request, response);
  });
}

/**
 * Fastify tells the length of what a HEAD leaves out, and of a 304, which leaves out as much as the GET would
 * send, it knows none: 0 would be wrong. @see RFC 9110 section 8.6
 */
function tellNoWrongLength(route: RouteOptions): void {
  if (route.method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), dropLength];
}

const dropLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
};

/**
 * How Fastify compiles schemas: a hook of ours validates, zod serializes. Named when the server is
 * made, since Fastify loads ajv otherwise, and its types know the factories of ajv only.
 */
const schemaCompilers = {
  compilersFactory: {
    buildValidator: () => () => () => true,
    buildSerializer: () => serializerCompiler,
  },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
