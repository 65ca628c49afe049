/** Whatever goes wrong at a path of the portal is a page that says what to do; never a JSON document. */
import type { HttpApp } from '#http/http-app.ts';
import { toTrackportError } from '#http/problems/framework-errors.ts';
import { noteFailure } from '#http/problems/note-failure.ts';
import type { ProblemPage } from '#http/problems/problem-pages.ts';
import { renderProblem } from '#http/problems/problem.ts';
import { TrackportError } from '#shared/errors.ts';

import { clearSessionId, type PortalCookies } from '../cookies.ts';
import {
  type Exchange,
  PORTAL_HEADERS,
  sendDocument,
  sendPage,
  type SendPageDeps,
} from '../send-page.ts';
import {
  earlyView,
  type ErrorViewsDeps,
  type Failed,
  framedView,
  loneView,
  pageBefore,
} from './error-views.ts';
import { PortalRefusal } from './refusal.ts';
import { ownPath, signInPath } from '../return-path.ts';

export type ErrorPagesDeps = ErrorViewsDeps &
  SendPageDeps & {
    /** Sign-in, for a form that came without a session; it leads to the path afterwards. */
    sessionOver: (returnTo: string) => string;
    cookies: PortalCookies;
  };

/** In this scope errors become pages, and unknown paths, too. */
export function installErrorPages(app: HttpApp, deps: ErrorPagesDeps): void {
  app.setErrorHandler((error, request, reply) =>
    error instanceof PortalRefusal
      ? sendRefusal(deps, { request, reply }, error)
      : sendFailure(deps, { request, reply }, toTrackportError(error)),
  );
}

/** A page for what fails before any route of the portal is found: bad escapes, endless addresses. */
export function earlyErrorPage(deps: ErrorViewsDeps): ProblemPage {
  return ({ path, requestId, error }) => {
    if (!/^\/portal(?:\/|$)/.test(path)) return undefined;
    const nobody = { method: 'GET', headers: {}, portalSession: undefined };
    const request = { id: requestId, url: path, ...nobody };
    return { headers: PORTAL_HEADERS, document: earlyView(deps, { request, error }) };
  };
}

const FORBIDDEN = 403;

function sendRefusal(deps: ErrorPagesDeps, exchange: Exchange, refusal: PortalRefusal) {
  const { request, reply } = exchange;
  request.logFacts = { ...request.logFacts, code: refusal.kind };
  if (refusal.kind !== 'no-session') {
    const error = new TrackportError('insufficient-scope');
    return send(deps, exchange, { request, error, refusal }, FORBIDDEN);
  }
  if (request.method === 'POST') {
    reply.header('set-cookie', clearSessionId(deps.cookies));
    const document = deps.sessionOver(pageBefore(request, deps.publicUrl()));
    return sendDocument(reply, document, FORBIDDEN);
  }
  const location = signInPath(ownPath(request.url));
  return reply.header('cache-control', 'no-store').redirect(location, 303);
}

function sendFailure(deps: ErrorPagesDeps, exchange: Exchange, error: TrackportError) {
  const { request, reply } = exchange;
  noteFailure(exchange, error);
  const context = { publicUrl: deps.publicUrl(), requestId: request.id };
  const { status, headers } = renderProblem(context, error);
  const { 'www-authenticate': _forTokens, 'content-type': _ofProblems, ...rest } = headers;
  reply.headers(rest);
  return send(deps, exchange, { request, error }, status);
}

function send(deps: ErrorPagesDeps, exchange: Exchange, failed: Failed, status: number) {
  if (!exchange.request.portalSession)
    return sendDocument(exchange.reply, loneView(deps, failed), status);
  return sendPage(deps, exchange, { ...framedView(deps, failed), status });
}
