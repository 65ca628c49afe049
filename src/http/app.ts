import fastify from 'fastify';
import type { FastifyHttpOptions, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Limiter } from '#access/limit.ts';
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { Log } from '#shared/log.ts';
import { createResponseHooks } from './responses/response-hooks.ts';
import { createCors } from './responses/cors.ts';
import { type BodyBudget, createBodyBudget } from './requests/body-budget.ts';
import {
  type ClientErrorDeps,
  createClientErrorHandler,
  createConnectHandler,
} from './problems/client-error.ts';
import { createEarlyResponses } from './responses/early-responses.ts';
import type { Area, HttpApp, HttpContext } from './http-app.ts';
import { acceptJson, type ParseJson } from './requests/json-body.ts';
import { defaultLimits } from './limits.ts';
import type { ServerLimits } from './limits.ts';
import { collectOpenApi } from './openapi/collect.ts';
import { installPressureRelief } from './requests/pressure.ts';
import { createQueryParser } from './requests/query-parser.ts';
import { measureBodies } from './telemetry/request-metrics.ts';
import { createBodyReader, releaseBodies } from './requests/read-body.ts';
import { createRefusalLog } from './telemetry/refusal-log.ts';
import { createRefusalLimiter } from './auth/refusal-limiter.ts';
import type { CatalogRoutesDeps } from './routes/catalog/caller.ts';
import type { AuditRoutesDeps } from './routes/audit/routes.ts';
import type { ClaimRoutesDeps } from './routes/claims/routes.ts';
import type { ConsumerRoutesDeps } from './routes/consumers/routes.ts';
import { docsRoutes } from './routes/docs/routes.ts';
import { githubWebhookRoutes } from './routes/github-webhook/routes.ts';
import type { TrackerWebhookDeps } from './routes/github-webhook/routes.ts';
import { leadRoutes } from './routes/leads/routes.ts';
import type { LeadRoutesDeps } from './routes/leads/routes.ts';
import { removalRoutes } from './routes/removals/routes.ts';
import type { RemovalRoutesDeps } from './routes/removals/routes.ts';
import { operationRoutes } from './routes/operations/routes.ts';
import type { OperationsDeps } from './routes/operations/routes.ts';
import { asPartnerRefusal, partnerRoutes } from './routes/partners/routes.ts';
import type { PartnerRoutesDeps } from './routes/partners/routes.ts';
import { meRoutes } from './routes/me/routes.ts';
import { problemRoutes } from './routes/problems/routes.ts';
import { receiptStatusRoutes } from './routes/receipt-status/routes.ts';
import type { ReceiptRoutesDeps } from './routes/receipts/routes.ts';
import { schemaCompilers } from './requests/schema-compilers.ts';
import { createRequestValidator } from './requests/validate-request.ts';

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
};

/** The services of each area. An area without services has no routes. */
export type AppDeps = ServerDeps & {
  leads?: LeadRoutesDeps;
  removals?: RemovalRoutesDeps;
  trackerWebhook?: TrackerWebhookDeps;
  catalog?: CatalogRoutesDeps;
  consumers?: ConsumerRoutesDeps;
  receipts?: ReceiptRoutesDeps;
  audit?: AuditRoutesDeps;
  claims?: ClaimRoutesDeps;
  partners?: PartnerRoutesDeps;
  /** Left out when they have a port of their own: see `createOperationsApp`. */
  operations?: OperationsDeps;
};

/** The public server: not listening yet. */
export function createApp(deps: AppDeps): HttpApp {
  const { app, context } = createServer(deps);
  const { catalog, consumers, receipts, audit, claims } = deps;
  // What needs an issuer is loaded where there is one.
  const areas: (Area | undefined)[] = [
    deps.operations && operationRoutes(context, deps.operations),
    problemRoutes(context),
    docsRoutes(),
    deps.leads && leadRoutes(context, deps.leads),
    deps.removals && removalRoutes(context, deps.removals),
    deps.leads && meRoutes(context, deps.leads),
    deps.trackerWebhook && githubWebhookRoutes(context, deps.trackerWebhook),
    catalog &&
      (async (scope) =>
        (await import('./routes/catalog/routes.ts')).catalogRoutes(context, catalog)(scope)),
    consumers &&
      (async (scope) =>
        (await import('./routes/consumers/routes.ts')).consumerRoutes(context, consumers)(scope)),
    receipts &&
      (async (scope) =>
        (await import('./routes/receipts/routes.ts')).receiptRoutes(context, receipts)(scope)),
    audit &&
      (async (scope) =>
        (await import('./routes/audit/routes.ts')).auditRoutes(context, audit)(scope)),
    claims &&
      (async (scope) =>
        (await import('./routes/claims/routes.ts')).claimRoutes(context, claims)(scope)),
    ...(deps.partners
      ? [partnerRoutes(context, deps.partners), receiptStatusRoutes(deps.partners)]
      : []),
  ];
  registerAreas(app, areas);
  return app;
}

/** `/healthz`, `/readyz` and `/metrics` alone, for a port that the public does not reach. */
export function createOperationsApp(deps: ServerDeps, operations: OperationsDeps): HttpApp {
  const { app, context } = createServer(deps);
  registerAreas(app, [operationRoutes(context, operations)]);
  return app;
}

function registerAreas(app: HttpApp, areas: readonly (Area | undefined)[]): void {
  for (const area of areas) {
    if (area) void app.register(async (scope) => area(scope.withTypeProvider<ZodTypeProvider>()));
  }
}

function createServer(deps: ServerDeps): { app: HttpApp; context: HttpContext } {
  const limits = { ...defaultLimits, ...deps.limits };
  const cors = createCors(deps.corsOrigins ?? []);
  const responseDeps = {
    ...deps,
    cors,
    earlyResponses: createEarlyResponses(),
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
    const validate = createRequestValidator(route);
    if (validate) route.preHandler = [validate, ...[route.preHandler ?? []].flat()];
  });
  collectOpenApi(app);
  responseHooks.install(app);
  cors.install(app);
  app.server.on('connect', createConnectHandler(responseDeps));
  // Node would respond with 417 by itself, without a problem document (RFC 9110 section 10.1.1: MAY).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  installPressureRelief(app, limits);
  acceptJson(app, { read: readBody, parse: deps.parseJson ?? parseJsonText });
  const { publicUrl, clock, log } = deps;
  return { app, context: { publicUrl, clock, log, refusals, readBody } };
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
