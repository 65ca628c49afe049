import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Area, AreaContext, HttpApp, Services } from './context.ts';
import { docsRoutes } from './routes/docs.ts';
import { githubWebhookRoutes } from './routes/github-webhook.ts';
import { landingRoutes } from './routes/landing.ts';
import { leadRoutes } from './routes/leads.ts';
import { leadFeedRoutes } from './routes/lead-feed.ts';
import type { ServiceReports } from './readiness.ts';
import { operationRoutes } from './routes/operations.ts';
import { partnerRoutes } from './routes/partners.ts';
import { meRoutes } from './routes/me.ts';
import { problemRoutes } from './routes/problems.ts';
import { receiptStatusRoutes } from './routes/receipt-status.ts';
import { securityTxtRoutes } from './routes/security-txt.ts';
import { createServer, type ServerDeps } from './server.ts';

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
    securityTxtRoutes,
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
