/** How people come in and go: the sign-in page, the way to the issuer and back, and sign-out. */
import type { FastifyRequest } from 'fastify';
import { type SignInAttempt, SignInFailure } from '#access/sessions/issuer-client.ts';
import { refusedToken } from '#access/tokens.ts';
import type { Exchange, HttpApp } from '#http/context.ts';
import { isTrackportError } from '#shared/errors.ts';
import { ownPath } from '../address.ts';
import type { PortalContext } from '../context.ts';
import { fieldOnce, formTokenOf } from '../routes/form-bodies.ts';
import { PORTAL_ROUTE } from '../routes/portal-routes.ts';
import { PortalRefusal, refuseOtherOrigins, findSession } from '../routes/portal-request.ts';
import { PORTAL_HEADERS, sendDocument } from '../routes/send-page.ts';
import { isTimeZone } from '../shell/times.ts';
import { failedPage, signedOutPage, signingOutPage, signInPage } from './views.ts';
import { z } from 'zod';
import { MINUTE, SECOND } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';

export function addSignInRoutes(app: HttpApp, context: PortalContext): void {
  const { cookies, signIn } = context;
  app.get('/portal/sign-in', PORTAL_ROUTE, async (request, reply) => {
    const returnTo = ownPath(queryOf(request)['to']);
    if (await findSession(context, request)) return leadTo({ request, reply }, returnTo);
    const hadSession = cookies.session.read(request.headers.cookie) !== undefined;
    if (hadSession) reply.header('set-cookie', cookies.session.clear());
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
    reply.header('set-cookie', cookies.session.clear());
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
  reply.header('set-cookie', context.cookies.session.set(id));
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

/** @throws {quota-exceeded} for one who tries again and again */
function countRefusal({ rethrowRefusal }: PortalContext, { ip }: FastifyRequest): void {
  try {
    rethrowRefusal(ip, refusedToken());
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
export function addBackChannelLogout(app: HttpApp, context: PortalContext): void {
  const route = { ...PORTAL_ROUTE, bodyLimit: BODY_BYTES_MAX };
  app.post('/portal/back-channel-logout', route, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    try {
      const count = await context.signIn.endByIssuer(fieldOnce(request, 'logout_token') ?? '');
      request.logFacts = { ...request.logFacts, count };
      return reply.code(200).send();
    } catch (error) {
      if (!isTrackportError(error, 'unauthorized')) throw error;
      countRefusal(context, request);
      request.logFacts = { ...request.logFacts, code: 'invalid-logout-token' };
      return reply.code(400).send({ error: 'invalid_request' });
    }
  });
}

/**
 * Sign-ins that are under way. What the callback needs to know is with the browser that began it, sealed
 * and for ten minutes: no instance remembers anything, each tab has its own, and a callback that was
 * meant for another browser finds nothing.
 */
const PREFIX = 'trackport-sign-in-';
const ATTEMPT_MS = 10 * MINUTE;
/** Tabs in which somebody signs in at the same time; what is older is given up. */
const ATTEMPTS_MAX = 5;
const NAME_CHARACTERS = 12;

const sealedAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  timeZone: z.string().optional(),
  startedAt: z.number(),
});

/** An attempt, where the person wants to be afterwards, and in which zone the browser is. */
type OpenAttempt = SignInAttempt & { returnTo: string; timeZone?: string };

/** Begins one in this browser. */
function putAttempt(
  { cookies, sealer, clock }: PortalContext,
  { request, reply }: Exchange,
  attempt: OpenAttempt,
): void {
  const known = cookies.names(request.headers.cookie, PREFIX);
  for (const name of known.slice(0, Math.max(0, known.length - ATTEMPTS_MAX + 1)))
    reply.header('set-cookie', cookies.clear(name));
  const text = JSON.stringify({ ...attempt, startedAt: clock.now() });
  const sealed = sealer.seal(identityOf(attempt.state), Buffer.from(text));
  const value = sealed.toString('base64url');
  reply.header('set-cookie', cookies.set(nameOf(attempt.state), value, ATTEMPT_MS / SECOND));
}

/** The attempt of this state, which is over then; undefined when this browser has none. */
function takeAttempt(
  { cookies, sealer, clock }: PortalContext,
  { request, reply }: Exchange,
  state: unknown,
): OpenAttempt | undefined {
  if (typeof state !== 'string') return undefined;
  const name = nameOf(state);
  const value = cookies.read(request.headers.cookie, name);
  if (value === undefined) return undefined;
  reply.header('set-cookie', cookies.clear(name));
  const attempt = open(sealer, state, value);
  return attempt && clock.now() - attempt.startedAt < ATTEMPT_MS ? attempt : undefined;
}

/** What was altered, or sealed by another key, is none. */
function open(sealer: Sealer, state: string, value: string) {
  try {
    const text = sealer.open(identityOf(state), Buffer.from(value, 'base64url')).toString();
    return sealedAttempt.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function nameOf(state: string): string {
  return `${PREFIX}${state.slice(0, NAME_CHARACTERS).replaceAll(/[^\w-]/g, '_')}`;
}

function identityOf(state: string): string {
  return `sign-in/${state}`;
}
