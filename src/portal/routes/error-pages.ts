/** Whatever goes wrong at a path of the portal is a page that says what to do; never a JSON document. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Exchange, HttpApp } from '#http/context.ts';
import {
  noteFailure,
  type ProblemPage,
  renderProblem,
  toTrackportError,
} from '#http/responses/problem.ts';
import { createKnownPaths, routedPath } from '#http/requests/paths.ts';
import { TrackportError } from '#shared/errors.ts';
import { problems } from '#shared/outcomes/problems.ts';
import type { PortalContext } from '../context.ts';
import { ownPath, type Section, SECTIONS, sections, signInPath, withQuery } from '../paths.ts';
import { sendAgainPage } from '../sign-in/views.ts';
import {
  findSession,
  PORTAL_HEADERS,
  PORTAL_ROUTE,
  PortalRefusal,
  type PortalRefusalKind,
  sendDocument,
  sendPage,
  viewerOf,
} from './portal-request.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { may, type PortalPage } from '../page.ts';
import { code, link } from '../shell/elements.ts';
import { refusalBody, type RefusalPage, refusalTitle, renderLoneRefusal } from '../shell/frame.ts';

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

/** As far as pages about failures look at it. */
type FailedRequest = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'portalSession'>;

type Failed = { request: FailedRequest; error: TrackportError; refusal?: PortalRefusal };

/** For who is signed in. */
function framedView(context: PortalContext, failed: Failed): PortalPage {
  const { url } = failed.request;
  const publicUrl = context.publicUrl();
  const given = {
    ...factsOf(failed, publicUrl),
    ...auditOf(failed.request),
    actions: waysOn(failed, publicUrl),
  };
  const viewer = viewerOf(context);
  return { title: refusalTitle(given), section: sectionOf(url), body: refusalBody(given, viewer) };
}

/** For who is not. */
function loneView(context: PortalContext, failed: Failed, words: ErrorText = {}): string {
  const actions = link('/portal', 'Overview', { look: 'button' });
  const given = { ...factsOf(failed, context.publicUrl()), ...words, actions };
  return renderLoneRefusal(context, given);
}

/** Of an address that could not be taken apart. */
const BROKEN_ADDRESS: ErrorText = {
  heading: 'This address cannot be read',
  text: 'It was cut off on its way, or holds a percent sign that stands for nothing.',
  nextStep: 'go to the overview, and to the page from there.',
};

const refusals: Readonly<Record<PortalRefusalKind, (publicUrl: string) => ErrorText>> = {
  'no-session': () => ({}),
  'old-sign-in': () => ({}),
  'stale-form': () => ({
    heading: 'This form is from an earlier session',
    text: 'Nothing was changed.',
    nextStep: 'open the page again and send the form from there.',
  }),
  'other-origin': (publicUrl) => ({
    heading: 'This form came from elsewhere',
    text: 'Nothing was changed: no page of this portal sent it.',
    nextStep: html`open the portal at <code>${publicUrl}/portal</code> and send the form from there.`,
  }),
};

function factsOf({ request, error, refusal }: Failed, publicUrl: string) {
  const { code } = error;
  if (!refusal) return { code, requestId: request.id, ...wordsOf({ request, error }) };
  return { code, says: refusal.kind, requestId: request.id, ...refusals[refusal.kind](publicUrl) };
}

function auditOf({ id, portalSession }: FailedRequest): Pick<RefusalPage, 'auditHref'> {
  const { path, scope } = SECTIONS.audit;
  const canSee = portalSession && may(portalSession.principal, scope);
  return canSee ? { auditHref: withQuery(path, { request: id }) } : {};
}

function wordsOf({ request, error }: Failed): ErrorText {
  const { errors = [], detail } = error;
  if (error.code === 'insufficient-scope') return missingScope(request, error.challenge);
  const { onPage } = problems[error.code];
  if (errors.length > 0)
    return { text: html`${errors.map((problem) => html`${prose(problem.detail)} `)}`, ...onPage };
  return { ...(detail !== undefined && { text: prose(detail) }), ...onPage };
}

function missingScope({ portalSession: session }: FailedRequest, challenge = ''): ErrorText {
  const scope = /scope="([^"]+)"/.exec(challenge)?.[1] ?? 'another scope';
  const carried = session?.principal.scopes ?? [];
  const list = carried.length === 0 ? 'no scope' : html`<code>${carried.join(' ')}</code>`;
  return {
    heading: 'You may not do this',
    text: html`Your sign-in carries ${list}; this needs <code>${scope}</code>.`,
    nextStep: 'ask an owner of your organisation for that scope, then sign in again.',
  };
}

function waysOn(failed: Failed, publicUrl: string): HtmlValue {
  const { request, error, refusal } = failed;
  const before = pageBefore(request, publicUrl);
  const isOwnScope = error.code === 'insufficient-scope' && !refusal;
  return html`${isOwnScope && link(`${publicUrl}/portal/sign-in/start`, 'Sign in again', { look: 'button' })}
  ${request.method === 'POST' && before !== '/portal' && link(before, 'Back', { look: 'primary' })}
  ${!isOwnScope && toList(request)} ${link('/portal', 'Overview', { look: 'button' })}`;
}

/** The list that a page belongs to: where to look for what was not found, or to filter anew. */
function toList({ url }: FailedRequest): HtmlValue {
  const { path, label } = SECTIONS[sectionOf(url)];
  return path === '/portal' ? undefined : link(path, label, { look: 'button' });
}

/** The page that a form was sent from, as the browser says it. */
function pageBefore({ headers }: FailedRequest, publicUrl: string): string {
  const { referer = '' } = headers;
  const { origin } = new URL(publicUrl);
  return ownPath(referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : undefined);
}

function sectionOf(url: string): Section {
  return sections.findLast((section) => url.startsWith(SECTIONS[section].path)) ?? 'overview';
}

type ErrorText = Pick<RefusalPage, 'heading' | 'text' | 'nextStep'>;

/** The text of an error; what it puts between backticks is code. */
function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : code(part)))}`;
}
