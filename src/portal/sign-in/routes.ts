/** How people come in and go: the sign-in page, the way to the issuer and back, and sign-out. */
import type { FastifyRequest } from 'fastify';
import { SignInFailure } from '#access/sessions/issuer-client.ts';
import { refusedToken } from '#access/tokens/token-verifier.ts';
import type { HttpApp } from '#http/http-app.ts';
import { isTrackportError } from '#shared/errors.ts';
import { ownPath } from '../address.ts';
import type { PortalContext } from '../context.ts';
import { clearSessionId, readSessionId, setSessionId } from '../routes/cookies.ts';
import { fieldOnce, formTokenOf } from '../routes/forms.ts';
import { PORTAL_ROUTE } from '../routes/portal-routes.ts';
import { PortalRefusal, refuseOtherOrigins } from '../routes/refusal.ts';
import { type Exchange, PORTAL_HEADERS, sendDocument } from '../routes/send-page.ts';
import { findSession } from '../routes/session-guard.ts';
import { isTimeZone } from '../shell/times.ts';
import { putAttempt, takeAttempt } from './attempts.ts';
import { failedPage, signedOutPage, signingOutPage, signInPage } from './views.ts';

export function addSignInRoutes(app: HttpApp, context: PortalContext): void {
  const { cookies, signIn } = context;
  app.get('/portal/sign-in', PORTAL_ROUTE, async (request, reply) => {
    const returnTo = ownPath(queryOf(request)['to']);
    if (await findSession(context, request)) return leadTo({ request, reply }, returnTo);
    const hadSession = readSessionId(cookies, request.headers.cookie) !== undefined;
    if (hadSession) reply.header('set-cookie', clearSessionId(cookies));
    return sendDocument(reply, signInPage(context, returnTo, hadSession));
  });
  app.get('/portal/sign-in/start', PORTAL_ROUTE, (request, reply) =>
    withFailurePage(context, { request, reply }, async () => {
      const attempt = signIn.newAttempt();
      const location = await signIn.begin(attempt);
      const { to, zone } = queryOf(request);
      const timeZone = typeof zone === 'string' && isTimeZone(zone) ? { timeZone: zone } : {};
      const open = { ...attempt, ...timeZone, returnTo: ownPath(to) };
      putAttempt(context, { request, reply }, open);
      return leadTo({ request, reply }, location);
    }),
  );
  app.get('/portal/callback', PORTAL_ROUTE, (request, reply) =>
    withFailurePage(context, { request, reply }, () => complete(context, { request, reply })),
  );
  app.get('/portal/signed-out', PORTAL_ROUTE, async (_request, reply) =>
    sendDocument(reply, signedOutPage(context)),
  );
  addSignOut(app, context);
}

function addSignOut(app: HttpApp, context: PortalContext): void {
  const { sessions, cookies, formTokens, signIn } = context;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseOtherOrigins(request, context.publicUrl());
    await findSession(context, request);
  };
  app.post('/portal/sign-out', { ...PORTAL_ROUTE, onRequest }, async (request, reply) => {
    const { portalSession: session } = request;
    if (!session) return leadTo({ request, reply }, '/portal/signed-out');
    if (!formTokens.fits(session, formTokenOf(request))) throw new PortalRefusal('stale-form');
    await sessions.end(session);
    reply.header('set-cookie', clearSessionId(cookies));
    const location = await signIn.signOutUrl(session);
    if (location === undefined) return leadTo({ request, reply }, '/portal/signed-out');
    // Not by 303: browsers hold the whole way of a form to `form-action`, and issuers lead further.
    reply.header('refresh', `0;url=${location}`);
    return sendDocument(reply, signingOutPage(context, location));
  });
  app.get('/portal/sign-out', PORTAL_ROUTE, async (request, reply) =>
    leadTo({ request, reply }, '/portal'),
  );
}

/** The session that the browser had before is over: it can have one only. */
async function complete(context: PortalContext, exchange: Exchange) {
  const { request, reply } = exchange;
  const attempt = takeAttempt(context, exchange, queryOf(request)['state']);
  const before = await findSession(context, request);
  if (!attempt) {
    // The way back in the browser's history.
    if (before) return leadTo(exchange, '/portal');
    throw new SignInFailure('lost-attempt', 'unknown_state');
  }
  const [, query = ''] = request.url.split('?', 2);
  const { id, principal } = await context.signIn.complete(query, attempt);
  if (before) await context.sessions.end(before);
  reply.header('set-cookie', setSessionId(context.cookies, id));
  const { subject, workspaceId, scopes } = principal;
  context.log.info(
    { requestId: request.id, subject, workspaceId, scopes: scopes.join(' ') },
    'signed in',
  );
  return leadTo(exchange, attempt.returnTo);
}

/** Sign-ins that fail are counted by address, as refused credentials are, unless the issuer is at fault. */
async function withFailurePage<T>(
  context: PortalContext,
  { request, reply }: Exchange,
  work: () => Promise<T>,
) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    request.logFacts = { ...request.logFacts, signIn: error.kind, reason: error.reason };
    if (error.kind !== 'unavailable' || error.isFromBrowser) countRefusal(context, request);
    const { status, document, retryAfterSeconds } = failedPage(context, error, request.id);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return sendDocument(reply, document, status);
  }
}

/** @throws {quota-exceeded} in time */
function countRefusal({ refusals }: PortalContext, { ip }: FastifyRequest): void {
  try {
    refusals.rethrow(ip, refusedToken());
  } catch (error) {
    if (!isTrackportError(error, 'unauthorized')) throw error;
  }
}

function leadTo({ reply }: Exchange, location: string) {
  return reply.headers(PORTAL_HEADERS).redirect(location, 303);
}

function queryOf({ query }: FastifyRequest): Record<string, unknown> {
  return query as Record<string, unknown>;
}

const BODY_BYTES_MAX = 16 * 1024;

/**
 * Where the issuer says that sessions are over (OpenID Connect Back-Channel Logout 1.0 §2.5 to §2.8). It
 * calls with a signed token and no cookies, so that nothing of a browser is looked at. The specification
 * says what a refusal is, too: 400 with the JSON of an OAuth error (RFC 6749 §5.2), in place of a problem
 * document, with only the `error` that it names; why a token was refused is nobody else's business.
 */
export function addBackChannelLogout(app: HttpApp, { signIn, refusals }: PortalContext): void {
  const route = { ...PORTAL_ROUTE, bodyLimit: BODY_BYTES_MAX };
  app.post('/portal/back-channel-logout', route, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    try {
      const count = await signIn.endByIssuer(fieldOnce(request, 'logout_token') ?? '');
      request.logFacts = { ...request.logFacts, count };
      return reply.code(200).send();
    } catch (error) {
      if (!isTrackportError(error, 'unauthorized')) throw error;
      return refuse(refusals, { request, reply }, error);
    }
  });
}

/** @throws {quota-exceeded} for one who tries again and again */
function refuse(refusals: PortalContext['refusals'], { request, reply }: Exchange, refusal: Error) {
  try {
    refusals.rethrow(request.ip, refusal);
  } catch (error) {
    if (error !== refusal) throw error;
  }
  request.logFacts = { ...request.logFacts, code: 'invalid-logout-token' };
  return reply.code(400).send({ error: 'invalid_request' });
}
