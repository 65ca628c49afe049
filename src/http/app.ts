import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Area, AreaContext, HttpApp } from './http-app.ts';
import { docsRoutes } from './routes/docs/routes.ts';
import { githubWebhookRoutes } from './routes/github-webhook/routes.ts';
import { landingRoutes } from './routes/landing/routes.ts';
import { leadRoutes } from './routes/leads/routes.ts';
import { leadFeedRoutes } from './routes/lead-feed/routes.ts';
import { removalRoutes } from './routes/removals/routes.ts';
import type { ServiceReports } from './routes/operations/readiness.ts';
import { operationRoutes } from './routes/operations/routes.ts';
import { partnerRoutes } from './routes/partners/routes.ts';
import { meRoutes } from './routes/me/routes.ts';
import { problemRoutes } from './routes/problems/routes.ts';
import { receiptStatusRoutes } from './routes/receipt-status/routes.ts';
import { createServer, type ServerDeps } from './server.ts';
import type { Services } from './services.ts';

export type AppDeps = ServerDeps &
  Services & {
    /** Another folder's, so it comes as a whole. */
    portal?: Area | undefined;
  };

/** The public server: not listening yet. */
export function createApp(deps: AppDeps): HttpApp {
  const { app, context } = createServer(deps);
  const { bearer, operations, portal } = deps;
  const places = { hasPortal: portal !== undefined, hasOperations: operations !== undefined };
  const areas: (Area | undefined)[] = [
    operations && ((scope) => operationRoutes(scope, operations)),
    (scope) => landingRoutes(scope, places),
    problemRoutes,
    docsRoutes,
    leadRoutes,
    removalRoutes,
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
  const whole: AreaContext = { ...deps, ...context };
  for (const area of areas) if (area) register(app, (scope) => area(scope, whole));
  return app;
}

/** `/healthz`, `/readyz` and `/metrics` alone, for a port that the public does not reach. */
export function createOperationsApp(deps: ServerDeps, reports: ServiceReports): HttpApp {
  const { app } = createServer(deps);
  register(app, (scope) => operationRoutes(scope, reports));
  return app;
}

/** What is added to a scope concerns the routes in it alone. */
function register(app: HttpApp, add: (scope: HttpApp) => void | Promise<void>): void {
  void app.register(async (scope) => add(scope.withTypeProvider<ZodTypeProvider>()));
}
