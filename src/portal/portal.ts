/** The management portal as one area of the server. */
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Area, HttpContext } from '#http/http-app.ts';

import { TrackportError } from '#shared/errors.ts';

import { addAssetRoutes } from './assets/routes.ts';
import type { RenderPage } from './page.ts';
import { createPortalCookies } from './routes/cookies.ts';
import { installErrorPages } from './routes/error-pages.ts';
import type { ErrorViews } from './routes/error-pages.ts';
import { acceptForms } from './routes/form-body.ts';
import { createFormTokens } from './routes/form-token.ts';
import { createPortalRoutes, PORTAL_ROUTE } from './routes/portal-routes.ts';
import type { PortalRoutes } from './routes/route-types.ts';
import { createSessionGuard } from './routes/session-guard.ts';

export type PortalDeps = {
  sessions: Sessions;
  /** For what follows from sessions, such as the tokens of forms. */
  key: Buffer;
  renderPage: RenderPage;
  views: ErrorViews;
  /** Every page and every action. */
  addPages: (portal: PortalRoutes) => void;
};

/** Everything below `/portal`. */
export function portalArea(context: HttpContext, deps: PortalDeps): Area {
  const { sessions, renderPage } = deps;
  const { publicUrl, readBody } = context;
  const cookies = createPortalCookies(publicUrl);
  const formTokens = createFormTokens(deps.key);
  const guard = createSessionGuard({
    sessions,
    cookies,
    formTokens,
    confirm: async (session) => session,
  });
  const routes = { sessions, guard, formTokens, renderPage, publicUrl };
  return (app) => {
    app.decorateRequest('portalSession', undefined);
    acceptForms(app, readBody);
    installErrorPages(app, { ...routes, cookies, views: deps.views });
    addAssetRoutes(app);
    deps.addPages(createPortalRoutes(app, routes));
    app.get('/portal/', PORTAL_ROUTE, async (_request, reply) => reply.redirect('/portal', 308));
    app.all('/portal/*', PORTAL_ROUTE, async (request) => {
      await guard.find(request);
      throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
    });
  };
}
