import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Area, HttpApp, HttpContext } from './http-app.ts';
import type { BearerAreasDeps } from './routes/bearer-areas.ts';
import { docsRoutes } from './routes/docs/routes.ts';
import { githubWebhookRoutes, type TrackerWebhookDeps } from './routes/github-webhook/routes.ts';
import { landingRoutes } from './routes/landing/routes.ts';
import { leadRoutes, type LeadRoutesDeps } from './routes/leads/routes.ts';
import { leadFeedRoutes, type LeadFeedRoutesDeps } from './routes/lead-feed/routes.ts';
import { removalRoutes, type RemovalRoutesDeps } from './routes/removals/routes.ts';
import { operationRoutes, type OperationsDeps } from './routes/operations/routes.ts';
import { partnerRoutes, type PartnerRoutesDeps } from './routes/partners/routes.ts';
import { meRoutes } from './routes/me/routes.ts';
import { problemRoutes } from './routes/problems/routes.ts';
import { receiptStatusRoutes } from './routes/receipt-status/routes.ts';
import { createServer, type ServerDeps } from './server.ts';

/** The services of each area. An area without services has no routes. */
export type AppDeps = ServerDeps &
  BearerAreasDeps & {
    leads?: LeadRoutesDeps;
    removals?: RemovalRoutesDeps;
    leadFeed?: LeadFeedRoutesDeps;
    trackerWebhook?: TrackerWebhookDeps;
    partners?: PartnerRoutesDeps;
    /** Left out when they have a port of their own: see `createOperationsApp`. */
    operations?: OperationsDeps;
    /** Another folder's, so it comes as a whole. */
    portal?: (context: HttpContext) => Area;
  };

/** The public server: not listening yet. */
export function createApp(deps: AppDeps): HttpApp {
  const { app, context } = createServer(deps);
  const { catalog, consumers, receipts, audit, claims } = deps;
  const areas: (Area | undefined)[] = [
    deps.operations && operationRoutes(context, deps.operations),
    landingRoutes({
      hasPortal: deps.portal !== undefined,
      hasOperations: deps.operations !== undefined,
    }),
    problemRoutes(context),
    docsRoutes(),
    ...leadAreas(deps, context),
    deps.trackerWebhook && githubWebhookRoutes(context, deps.trackerWebhook),
    // Loaded where there is an issuer.
    [catalog, consumers, receipts, audit, claims].some(Boolean)
      ? async (scope) => {
          const { bearerAreas } = await import('./routes/bearer-areas.ts');
          registerAreas(scope, bearerAreas(context, deps));
        }
      : undefined,
    ...partnerAreas(deps, context),
    deps.portal?.(context),
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

function leadAreas(
  { leads, leadFeed, removals }: AppDeps,
  context: HttpContext,
): (Area | undefined)[] {
  return [
    leads && leadRoutes(context, leads),
    removals && removalRoutes(context, removals),
    leadFeed && leadFeedRoutes(context, leadFeed),
    leads && meRoutes(context, leads),
  ];
}

function partnerAreas({ partners }: AppDeps, context: HttpContext): Area[] {
  return partners ? [partnerRoutes(context, partners), receiptStatusRoutes(context, partners)] : [];
}

function registerAreas(app: HttpApp, areas: readonly (Area | undefined)[]): void {
  for (const area of areas) {
    if (area) void app.register(async (scope) => area(scope.withTypeProvider<ZodTypeProvider>()));
  }
}
