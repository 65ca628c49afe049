import type { Server } from 'node:http';
import { parse } from 'node:querystring';
import fastify, {
  type FastifyHttpOptions,
  type FastifyServerOptions,
  type onSendHookHandler,
  type RawServerDefault,
  type RouteOptions,
} from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { Log } from '#shared/log.ts';
import { createResponseHooks } from './responses/response-hooks.ts';
import { createBacklog } from './responses/backlog.ts';
import {
  acceptJson,
  type BodyBudget,
  checkBodies,
  createBodyBudget,
  createBodyReader,
  type ParseJson,
  releaseBodies,
} from './requests/body.ts';
import {
  type AnsweredEarly,
  createClientErrorHandler,
  createConnectHandler,
  type EarlyResponder,
} from './responses/client-error.ts';
import type { ProblemPage } from './responses/problem.ts';
import {
  type Area,
  type AreaContext,
  decorateRequests,
  type HttpApp,
  type HttpContext,
  type UseCases,
} from './context.ts';
import { githubWebhookRoutes } from './routes/github-webhook.ts';
import { docsRoutes } from './routes/docs.ts';
import { plainPageRoutes } from './routes/plain-pages.ts';
import { leadRoutes } from './routes/leads.ts';
import { leadFeedRoutes } from './routes/lead-feed.ts';
import { operationRoutes, type ServiceReports } from './routes/operations.ts';
import { partnerRoutes } from './routes/partners.ts';
import { meRoutes } from './routes/me.ts';
import { receiptStatusRoutes } from './routes/receipt-status.ts';
import { createRefusalLimiter, defaultLimits, type ServerLimits } from './limits.ts';
import { createRefusalLog, measureBodies, traceRequests } from './telemetry/requests.ts';
import { installPressureRelief } from './server-load.ts';
import { validateRequests } from './route.ts';

/** Settings and tools of any of our HTTP servers. */
export type ServerOptions = {
  clock: Clock;
  newId: NewId;
  log: Log;
  metrics: Registry;
  /** Without a slash at its end; a function, because a free port is known only when listening. */
  publicUrl: () => string;
  /** As Fastify's: whose `X-Forwarded-*` headers are believed. Default false. */
  trustProxy?: boolean | string[];
  /** Whose pages may read leads and the catalog; default nobody's. */
  corsOrigins?: readonly string[];
  limits?: Partial<ServerLimits>;
  /** Refused credentials of one address. */
  refusedPerMinute: number;
  /** Default: here and now. */
  parseJson?: ParseJson;
  /** Without it requests are not traced. */
  tracing?: Tracing;
};

/**
 * The public server: not listening yet. The portal is another folder's, so it comes as a whole; `operations` is left out
 * where they have a port of their own: see `createOperationsServer`.
 */
export function createPublicServer(
  options: ServerOptions,
  useCases: UseCases,
  {
    portal,
    operations,
  }: { portal?: Area | undefined; operations?: ServiceReports | undefined } = {},
): HttpApp {
  const { app, context } = createServer(options);
  const { bearer } = useCases;
  const served = { hasPortal: portal !== undefined, hasOperations: operations !== undefined };
  const areas: (Area | undefined)[] = [
    operations && ((scope) => operationRoutes(scope, operations)),
    (scope, whole) => plainPageRoutes(scope, whole, served),
    docsRoutes,
    leadRoutes,
    leadFeedRoutes,
    meRoutes,
    githubWebhookRoutes,
    bearer &&
      (async (scope, whole) => {
        const { bearerAreas } = await import('./routes/bearer-areas.ts');
        for (const area of bearerAreas)
          register(scope, (own) => area(own, { ...whole, ...bearer }));
      }),
    partnerRoutes,
    receiptStatusRoutes,
    portal,
  ];
  const whole: AreaContext = { ...useCases, ...context };
  for (const area of areas) if (area) register(app, (scope) => area(scope, whole));
  return app;
}

/** `/healthz`, `/readyz` and `/metrics` alone, for a port that the public does not reach. */
export function createOperationsServer(options: ServerOptions, reports: ServiceReports): HttpApp {
  const { app } = createServer(options);
  register(app, (scope) => operationRoutes(scope, reports));
  return app;
}

/** Adds in a scope of its own: hooks there concern the routes in it alone. */
function register(app: HttpApp, add: (scope: HttpApp) => void | Promise<void>): void {
  void app.register(async (scope) => add(scope.withTypeProvider<ZodTypeProvider>()));
}

/**
 * A server with everything but its routes: not listening yet. What a request passes, in this order:
 *
 * - before a route is looked for: `clientErrorHandler` has what Node's parser refuses, `frameworkErrors` what Fastify does
 * - onRequest: its span begins; headers of every response, preflights, paths that are not there, a service that stops;
 *   overload; then the area's own: its credential, grant and quota (`auth/`); a route without a body is validated
 * - preParsing: bodies that need not be read to be refused; then the route's own: the form of a partner's signature
 * - parsing: the body is read within a budget for all of them, and parsed
 * - preHandler: a route with a body is validated, after that its own
 * - onSend: headers of the route's successes and for pages of other origins; the body's memory is let go
 * - onResponse: the span ends; the log's line and the measurement
 *
 * Hooks run as they are added, those of the server before those of an area, and these before a route's.
 */
export function createServer(options: ServerOptions): { app: HttpApp; context: HttpContext } {
  const { publicUrl, newId, log, clock, metrics, corsOrigins, tracing } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const earlyErrors: HttpContext['earlyErrors'] = new Set();
  const problemPages = new Set<ProblemPage>();
  const refusalLog = createRefusalLog({ log, clock });
  const answeredEarly: AnsweredEarly = new WeakMap();
  const responder = { publicUrl, newId, log, answeredEarly, problemPages, refusalLog };
  const responseHooks = createResponseHooks({ ...responder, metrics, corsOrigins });
  const app = fastify({
    ...fastifyOptions(options, responder, limits),
    frameworkErrors: (error, request, reply) =>
      responseHooks.onFrameworkError(
        [...earlyErrors].reduce((failure, change) => change(request, failure), error as unknown),
        request,
        reply,
      ),
  }).withTypeProvider<ZodTypeProvider>();
  decorateRequests(app);
  collectRoutes(app);
  if (tracing) traceRequests(app, tracing);
  responseHooks.install(app);
  installPressureRelief(app, limits);
  app.addHook('onRoute', (route) => {
    releaseBodies(route);
    checkBodies(route);
    validateRequests(route);
    tellNoWrongLength(route);
  });
  const readBody = createBodyReader(openBodyBudget(options, limits));
  acceptJson(app, { read: readBody, parse: options.parseJson ?? parseJsonText });
  app.server.on('connect', createConnectHandler(responder));
  // Node would respond with 417 by itself, without a problem document (RFC 9110 section 10.1.1: MAY).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  continueWhenRead(app.server);
  const countRefusal = createRefusalLimiter(clock, options.refusedPerMinute);
  const backlog = createBacklog();
  const tools = { publicUrl, clock, log, metrics, countRefusal, readBody, backlog };
  return { app, context: { ...tools, problemPages, earlyErrors } };
}

function openBodyBudget({ metrics }: ServerOptions, limits: ServerLimits): BodyBudget {
  const budget = createBodyBudget(limits.largeBodiesBytesMax);
  measureBodies(metrics, budget);
  return budget;
}

function fastifyOptions(
  { newId, trustProxy = false }: ServerOptions,
  responder: EarlyResponder,
  limits: ServerLimits,
): FastifyHttpOptions<RawServerDefault> {
  return {
    logger: false,
    genReqId: () => newId(),
    requestIdHeader: false,
    trustProxy,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    schemaController: schemaCompilers,
    clientErrorHandler: createClientErrorHandler(responder),
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
 * Compilers of schemas for Fastify: a hook of ours validates, zod serializes. Named when the server is
 * made, since Fastify loads ajv otherwise, and its types know the factories of ajv only.
 */
const schemaCompilers = {
  compilersFactory: {
    buildValidator: () => () => () => true,
    buildSerializer: () => serializerCompiler,
  },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
