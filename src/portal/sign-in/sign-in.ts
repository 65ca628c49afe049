/** The sign-in: its page, the way to the issuer and back, attempts that are under way, and the sign-out. */
import { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import { type SignInAttempt, SignInFailure } from '#access/sessions/issuer-client.ts';
import type { Exchange, HttpApp } from '#http/context.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Session } from '#access/sessions/sessions.ts';
import type { CompletedSignIn } from '#access/sessions/sign-in.ts';
import { refusedToken, tokenLogFields } from '#access/tokens.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import { ownPath } from '../paths.ts';
import {
  findSession,
  PORTAL_HEADERS,
  PORTAL_ROUTE,
  PortalRefusal,
  refuseOtherOrigins,
  sendDocument,
} from '../routes/portal-request.ts';
import { formTokenOf } from '../routes/form-bodies.ts';
import { failedPage, signedOutPage, signInAgainPage, signingOutPage, signInPage } from './views.ts';

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
      const returnTo = ownPath(queryOf(request)['to']);
      putAttempt(context, { request, reply }, { ...attempt, returnTo });
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

async function complete(context: PortalContext, exchange: Exchange) {
  const { request, reply } = exchange;
  const { cookies, signIn } = context;
  const open = takeAttempt(context, exchange, queryOf(request)['state']);
  const before = await findSession(context, request);
  if (!open) {
    // The way back in the browser's history.
    if (before) return leadTo(exchange, '/portal');
    throw new SignInFailure('lost-attempt', 'unknown_state');
  }
  const [, query = ''] = request.url.split('?', 2);
  const { returnTo, isSilent, ...attempt } = open;
  const toConfirm = isSilent === true ? before : undefined;
  const callback = { query, attempt, ...(toConfirm && { toConfirm }) };
  try {
    const signedIn = await signIn.complete(callback);
    if (signedIn) await takeOver(context, exchange, { ...signedIn, before });
    return leadTo(exchange, returnTo);
  } catch (error) {
    if (!toConfirm) throw error;
    reply.header('set-cookie', cookies.session.clear());
    const isOnlyAway = error instanceof SignInFailure && error.kind === 'interaction-required';
    if (!isOnlyAway) throw error;
    return sendDocument(reply, signInAgainPage(context, returnTo));
  }
}

/** The session that the browser had before is over where there is a new one: it can have one only. */
async function takeOver(
  { cookies, sessions, log }: PortalContext,
  { request, reply }: Exchange,
  { id, principal, before }: CompletedSignIn & { before: Session | undefined },
): Promise<void> {
  const scopes = principal.scopes.join(' ');
  const facts = { requestId: request.id, ...tokenLogFields(principal), scopes };
  if (id === undefined) return log.info(facts, 'the issuer confirmed a session');
  if (before) await sessions.end(before);
  reply.header('set-cookie', cookies.session.set(id));
  log.info(facts, 'signed in');
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
    if (error.kind !== 'unavailable' || error.isFromBrowser) countFailure(context, request);
    const { status, document, retryAfterSeconds } = failedPage(context, error, request.id);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return sendDocument(reply, document, status);
  }
}

/** @throws {quota-exceeded} for one who tries again and again */
function countFailure({ countRefusal }: PortalContext, { ip }: FastifyRequest): void {
  const refusal = countRefusal(ip, refusedToken());
  if (!isTrackportError(refusal, 'unauthorized')) throw refusal;
}

function queryOf({ query }: FastifyRequest): Record<string, unknown> {
  return query as Record<string, unknown>;
}

/**
 * Begin of the names of cookies with sign-ins that are under way. What the callback needs to know is with the browser that
 * began it, sealed and for ten minutes: no instance remembers anything, each tab has its own, and a callback that was
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
  isSilent: z.literal(true).optional(),
  startedAt: z.number(),
});

/** An attempt, and where the person wants to be afterwards. */
type OpenAttempt = SignInAttempt & {
  returnTo: string;
  /** The person asked for a page, not for a sign-in. */
  isSilent?: true;
};

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

/** An attempt that was altered, or sealed by another key, is none. */
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

/**
 * Leads to the issuer and back where it is time to ask it again who is signed in; undefined where it is not, or the
 * issuer is out of reach.
 */
export async function confirmAtIssuer(context: PortalContext, exchange: Exchange) {
  const attempt = context.signIn.newAttempt();
  const location = await context.signIn.beginSilently(attempt);
  if (location === undefined) return undefined;
  const returnTo = ownPath(exchange.request.url);
  putAttempt(context, exchange, { ...attempt, returnTo, isSilent: true });
  return leadTo(exchange, location);
}

function leadTo({ reply }: Exchange, location: string) {
  return reply.headers(PORTAL_HEADERS).redirect(location, 303);
}
