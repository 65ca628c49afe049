/** The management portal as one area of the server. */
import type { SignIn } from '#access/sessions/sign-in.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Area, HttpContext } from '#http/http-app.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';

import { addAssetRoutes } from './assets/assets.ts';
import { createPortalCookies } from './routes/cookies.ts';
import { earlyErrorPage, installErrorPages } from './routes/errors/error-pages.ts';
import { acceptForms, type ParseForm } from './routes/forms/form-body.ts';
import { createFormTokens } from './routes/forms/form-token.ts';
import { createPortalRoutes, PORTAL_ROUTE } from './routes/portal-routes.ts';
import { addFallbackRoutes } from './routes/fallback-routes.ts';
import type { PortalRoutes } from './routes/route-types.ts';
import { createSessionGuard } from './routes/session-guard.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import { createPageRenderer, type FrameFacts } from './shell/page.ts';
import { createAttempts } from './sign-in/attempts.ts';
import { addBackChannelLogout, addSignInRoutes } from './sign-in/routes.ts';
import { addTimeZonePages } from './sign-in/time-zone.ts';
import { createSignInViews } from './sign-in/views.ts';

export type PortalDeps = FrameFacts & {
  sessions: Sessions;
  signIn: SignIn;
  /** Seals sign-ins under way. */
  sealer: Sealer;
  idempotency: Idempotency;
  /** Reads forms; large ones hold up nobody. */
  parseForm: ParseForm;
  /** 32 bytes for the tokens of forms. */
  formKey: Buffer;
  /** As the configuration names it. */
  issuer: string;
  audience: string;
  /** Every page and every action. */
  addPages: (portal: PortalRoutes) => void;
};

/** Everything below `/portal`. */
export function portalArea(context: HttpContext, deps: PortalDeps): Area {
  const { sessions, signIn } = deps;
  const { publicUrl, clock } = context;
  const cookies = createPortalCookies(publicUrl);
  const formTokens = createFormTokens(deps.formKey);
  const confirm = signIn.confirm;
  const guard = createSessionGuard({ sessions, cookies, formTokens, confirm });
  const views = createSignInViews({ ...deps, publicUrl, clock });
  const { sessionOver } = views;
  const shared = { ...context, ...deps, cookies, formTokens, guard, sessionOver };
  const routes = { ...shared, renderPage: createPageRenderer(deps) };
  const attempts = createAttempts({ ...deps, cookies, clock });
  context.problemPages.add(earlyErrorPage(shared));
  return (app) => {
    app.decorateRequest('portalSession', undefined);
    acceptForms(app, shared);
    installErrorPages(app, routes);
    addFallbackRoutes(app, guard);
    app.get('/portal/', PORTAL_ROUTE, async (_request, reply) => reply.redirect('/portal', 308));
    addAssetRoutes(app);
    addSignInRoutes(app, { ...shared, attempts, views });
    addBackChannelLogout(app, shared);
    const portal = createPortalRoutes(app, routes);
    addTimeZonePages(portal, deps);
    deps.addPages(portal);
    portal.finish();
  };
}
