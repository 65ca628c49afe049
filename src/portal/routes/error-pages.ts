/** Whatever goes wrong at a path of the portal is a page that says what to do; never a JSON document. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Exchange, HttpApp } from '#http/context.ts';
import {
  toTrackportError,
  noteFailure,
  type ProblemPage,
  renderProblem,
} from '#http/responses/problem.ts';
import { createKnownPaths, routedPath } from '#http/requests/paths.ts';
import { TrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import { ownPath, signInPath } from '../paths.ts';
import { sendAgainPage } from '../sign-in/views.ts';
import { BROKEN_ADDRESS, type Failed, framedView, loneView, pageBefore } from './error-views.ts';
import { findSession, PortalRefusal } from './portal-request.ts';
import { PORTAL_HEADERS, PORTAL_ROUTE, sendDocument, sendPage } from './send-page.ts';

/** In this scope errors become pages, and unknown paths, too. */
export function installErrorPages(app: HttpApp, context: PortalContext): void {
  app.setErrorHandler((error, request, reply) =>
    error instanceof PortalRefusal
      ? sendRefusal(context, { request, reply }, error)
      : sendFailure(context, { request, reply }, toTrackportError(error)),
  );
}

/** A page for what fails before any route of the portal is found: bad escapes, endless addresses. */
export function earlyErrorPage(context: PortalContext): ProblemPage {
  return ({ path, requestId, error }) => {
    if (!/^\/portal(?:\/|$)/.test(path)) return undefined;
    const nobody = { method: 'GET', headers: {}, portalSession: undefined };
    const request = { id: requestId, url: path, ...nobody };
    const words = error.code === 'bad-request' ? BROKEN_ADDRESS : {};
    const document = loneView(context, { request, error }, words);
    return { headers: PORTAL_HEADERS, document };
  };
}

/**
 * Refuses what no page and no action takes, before a body is read: 405 with `Allow` where the path takes another
 * method, else 404. Knows the routes that are added after it.
 */
export function addFallbackRoutes(app: HttpApp, context: PortalContext): void {
  const paths = createKnownPaths();
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await findSession(context, request); // For the frame of the page.
    const methods = paths.methodsOf(routedPath(request.url));
    // A part of a path can be longer than routes take.
    if (!methods || methods.includes(request.method))
      throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
    const allow = methods.join(', ');
    reply.header('allow', allow);
    throw new TrackportError('method-not-allowed', { detail: `This address takes: ${allow}.` });
  };
  const route = { ...PORTAL_ROUTE, onRequest: refuse, handler: refuse };
  const method = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
  app.route({ ...route, method, url: '/portal' });
  app.route({ ...route, method: ['GET', ...method], url: '/portal/*' });
  app.addHook('onRoute', (added) => paths.add(added));
}

const FORBIDDEN = 403;

function sendRefusal(context: PortalContext, exchange: Exchange, refusal: PortalRefusal) {
  const { request, reply } = exchange;
  request.logFacts = { ...request.logFacts, code: refusal.kind };
  const { kind } = refusal;
  if (kind !== 'no-session' && kind !== 'old-sign-in') {
    const error = new TrackportError('insufficient-scope');
    return send(context, exchange, { request, error, refusal }, FORBIDDEN);
  }
  if (request.method === 'POST') {
    // A session that is only old shows pages still, while the issuer is out of reach.
    if (kind === 'no-session') reply.header('set-cookie', context.cookies.session.clear());
    const document = sendAgainPage(context, pageBefore(request, context.publicUrl()), kind);
    return sendDocument(reply, document, FORBIDDEN);
  }
  const location = signInPath(ownPath(request.url));
  return reply.header('cache-control', 'no-store').redirect(location, 303);
}

function sendFailure(context: PortalContext, exchange: Exchange, error: TrackportError) {
  const { request, reply } = exchange;
  noteFailure(exchange, error);
  const of = { publicUrl: context.publicUrl(), requestId: request.id };
  const { status, headers } = renderProblem(of, error);
  const { 'www-authenticate': _forTokens, 'content-type': _ofProblems, ...rest } = headers;
  reply.headers(rest);
  return send(context, exchange, { request, error }, status);
}

function send(context: PortalContext, exchange: Exchange, failed: Failed, status: number) {
  if (!exchange.request.portalSession)
    return sendDocument(exchange.reply, loneView(context, failed), status);
  return sendPage(context, exchange, { ...framedView(context, failed), status });
}
