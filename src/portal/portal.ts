/** The management portal as one area of the server. */
import type { HttpApp, HttpContext } from '#http/context.ts';
import { addAssetRoutes } from './assets.ts';
import type { PortalDeps, PagesContext } from './context.ts';
import { createPortalCookies } from './routes/cookies.ts';
import { earlyErrorPage, installErrorPages } from './routes/error-pages.ts';
import { acceptForms, createFormTokens } from './routes/form-bodies.ts';
import { addFallbackRoutes, createPortalRoutes, PORTAL_ROUTE } from './routes/portal-routes.ts';
import { addSignInRoutes } from './sign-in/routes.ts';
import type { PortalRoutes } from './routes/route-types.ts';
import { auditPages } from './pages/audit.ts';
import { catalogPages } from './pages/catalog/catalog-list.ts';
import { consumerPages } from './pages/consumers/consumer-list.ts';
import { overviewPages } from './pages/overview/overview-page.ts';
import { partnerPages } from './pages/partners/partners-page.ts';
import { receiptPages } from './pages/receipts/receipt-list.ts';

/** Everything below `/portal`. */
export function portalArea(app: HttpApp, http: HttpContext, deps: PortalDeps): void {
  const cookies = createPortalCookies(http.publicUrl);
  const context = { ...http, ...deps, cookies, formTokens: createFormTokens(deps.formKey) };
  http.problemPages.add(earlyErrorPage(context));
  app.decorateRequest('portalSession', undefined);
  acceptForms(app, context);
  installErrorPages(app, context);
  addFallbackRoutes(app, context);
  app.get('/portal/', PORTAL_ROUTE, async (_request, reply) => reply.redirect('/portal', 308));
  addAssetRoutes(app);
  addSignInRoutes(app, context);
  const portal = createPortalRoutes(app, context);
  deps.addPages(portal);
  portal.finish();
}

/** Every page of the portal with its actions; each area has a folder. */
export function addPages(portal: PortalRoutes, context: PagesContext): void {
  overviewPages(portal, context);
  consumerPages(portal, context);
  receiptPages(portal, context);
  partnerPages(portal, context);
  catalogPages(portal, context);
  auditPages(portal, context);
}
