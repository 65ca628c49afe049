/** The management portal as one area of the server. */
import type { HttpApp } from '#http/context.ts';
import { addAssetRoutes } from './assets.ts';
import type { PortalContext } from './context.ts';
import { auditFile, auditPage } from './pages/audit.ts';
import { artifactPage, specFile } from './pages/catalog/artifact-page.ts';
import { catalogListPage } from './pages/catalog/catalog-list.ts';
import { draftActions } from './pages/catalog/draft-actions.ts';
import { lifecycleActions } from './pages/catalog/lifecycle-actions.ts';
import { claimListPage, claimPage, releaseLeadAction } from './pages/claims.ts';
import { consumerActions } from './pages/consumers/consumer-actions.ts';
import { consumerListPage } from './pages/consumers/consumer-list.ts';
import { consumerPage } from './pages/consumers/consumer-page.ts';
import { createConsumerAction } from './pages/consumers/create-consumer.ts';
import { overviewPage } from './pages/overview/overview-page.ts';
import { partnersPage } from './pages/partners.ts';
import { receiptListPage } from './pages/receipts/receipt-list.ts';
import {
  certificateFile,
  acknowledgeAction,
  receiptPage,
  replayAction,
} from './pages/receipts/receipt-page.ts';
import { wordsPage } from './pages/receipts/receipt-words.ts';
import { replayAllAction } from './pages/receipts/replay-page.ts';
import { addFallbackRoutes, earlyErrorPage, installErrorPages } from './routes/error-pages.ts';
import { acceptForms } from './routes/form-bodies.ts';
import type { PortalRoute } from './routes/page-route.ts';
import { pathOf, PORTAL_HEADERS, PORTAL_ROUTE } from './routes/portal-request.ts';
import { addSignInRoutes } from './sign-in/sign-in.ts';

/** Every page of the portal with its actions. */
export const portalPages: readonly PortalRoute[] = [
  overviewPage,
  consumerListPage,
  createConsumerAction,
  consumerPage,
  ...consumerActions,
  receiptListPage,
  replayAllAction,
  wordsPage,
  receiptPage,
  certificateFile,
  acknowledgeAction,
  replayAction,
  claimListPage,
  claimPage,
  releaseLeadAction,
  partnersPage,
  catalogListPage,
  artifactPage,
  specFile,
  ...draftActions,
  ...lifecycleActions,
  auditPage,
  auditFile,
];

/** Adds everything below `/portal`. */
export function addPortal(app: HttpApp, context: PortalContext, pages = portalPages): void {
  context.problemPages.add(earlyErrorPage(context));
  app.decorateRequest('portalSession', undefined);
  acceptForms(app, context);
  installErrorPages(app, context);
  addFallbackRoutes(app, context);
  app.get('/portal/', PORTAL_ROUTE, async (_request, reply) => reply.redirect('/portal', 308));
  addAssetRoutes(app);
  addSignInRoutes(app, context);
  for (const page of pages) page.add(app, context);
  redirectActionsToPages(app, pages);
}

/** Leads from the address of an action, as after a form that came back, to the page above it. */
function redirectActionsToPages(app: HttpApp, all: readonly PortalRoute[]): void {
  const pages = new Set(
    all.filter(({ methods }) => methods.includes('GET')).map(({ path }) => path),
  );
  for (const { path, methods } of all) {
    if (methods.includes('GET')) continue;
    const segments = path.split('/');
    const isPage = (count: number): boolean => pages.has(segments.slice(0, count).join('/'));
    const count = segments.findLastIndex((_segment, at) => isPage(at + 1)) + 1;
    app.get(path, PORTAL_ROUTE, async (request, reply) => {
      const page = pathOf(request).split('/').slice(0, count).join('/');
      return reply.headers(PORTAL_HEADERS).redirect(page === '' ? '/portal' : page, 303);
    });
  }
}
