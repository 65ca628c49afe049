/** The management portal as one area of the server. */
import type { HttpApp, HttpContext } from '#http/context.ts';
import { addAssetRoutes } from './assets.ts';
import type { PortalService, PagesContext } from './context.ts';
import { createPortalCookies } from './routes/cookies.ts';
import { earlyErrorPage, installErrorPages } from './routes/error-pages.ts';
import { acceptForms, createFormTokens } from './routes/form-bodies.ts';
import { addFallbackRoutes, createPortalRoutes } from './routes/portal-routes.ts';
import { PORTAL_ROUTE } from './routes/send-page.ts';
import { addSignInRoutes } from './sign-in/routes.ts';
import { type PortalRoutes, addActions } from './routes/page-actions.ts';
import { auditPages } from './pages/audit.ts';
import { overviewPages } from './pages/overview/overview-page.ts';
import { partnerPages } from './pages/partners/partners-page.ts';
import {
  addKey,
  revokeConsumer,
  revokeKey,
  rotateKey,
} from './pages/consumers/consumer-confirmations.ts';
import { artifactPages } from './pages/catalog/artifact-page.ts';
import { catalogListPage } from './pages/catalog/catalog-list.ts';
import { claimPages, releaseLead } from './pages/receipts/claim-pages.ts';
import { consumerListPage } from './pages/consumers/consumer-list.ts';
import { consumerPage } from './pages/consumers/consumer-page.ts';
import { consumerPath } from './paths.ts';
import { consumerSettings } from './pages/consumers/consumer-settings.ts';
import { createConsumer } from './pages/consumers/create-consumer.ts';
import { draftActions } from './pages/catalog/draft-pages.ts';
import { lifecycleActions } from './pages/catalog/lifecycle-actions.ts';
import { ofConsumer } from './pages/consumers/consumer-words.ts';
import { publish } from './pages/catalog/publish-action.ts';
import { receiptActions, receiptPage } from './pages/receipts/receipt-page.ts';
import { receiptListPage } from './pages/receipts/receipt-list.ts';
import { replayAll } from './pages/receipts/replay-page.ts';
import { wordsPage } from './pages/receipts/words-page.ts';

/** Everything below `/portal`; `add` adds the pages. */
export function portalArea(
  app: HttpApp,
  http: HttpContext,
  service: PortalService,
  add: (portal: PortalRoutes) => void,
): void {
  const cookies = createPortalCookies(http.publicUrl);
  const context = { ...http, ...service, cookies, formTokens: createFormTokens(service.formKey) };
  http.problemPages.add(earlyErrorPage(context));
  app.decorateRequest('portalSession', undefined);
  acceptForms(app, context);
  installErrorPages(app, context);
  addFallbackRoutes(app, context);
  app.get('/portal/', PORTAL_ROUTE, async (_request, reply) => reply.redirect('/portal', 308));
  addAssetRoutes(app);
  addSignInRoutes(app, context);
  const portal = createPortalRoutes(app, context);
  add(portal);
  portal.finish();
}

/** Every page of the portal with its actions. */
export function addPages(portal: PortalRoutes, context: PagesContext): void {
  overviewPages(portal, context);
  consumerPages(portal, context);
  receiptPages(portal, context);
  partnerPages(portal, context);
  catalogPages(portal, context);
  auditPages(portal, context);
}

export function consumerPages(portal: PortalRoutes, context: PagesContext): void {
  consumerListPage(portal, context);
  portal.page(consumerPath(':id'), ofConsumer, (request) => consumerPage(context, request));
  addActions(portal, context, [createConsumer, ...consumerSettings]);
  addActions(portal, context, [revokeConsumer, addKey, rotateKey, revokeKey]);
}

/** Receipts of partners, and the claims of deletions on leads. */
export function receiptPages(portal: PortalRoutes, context: PagesContext): void {
  receiptListPage(portal, context);
  receiptPage(portal, context);
  claimPages(portal, context);
  wordsPage(portal);
  addActions(portal, context, [replayAll, ...receiptActions, releaseLead]);
}

export function catalogPages(portal: PortalRoutes, context: PagesContext): void {
  catalogListPage(portal, context);
  artifactPages(portal, context);
  addActions(portal, context, [...draftActions, publish, ...lifecycleActions]);
}
