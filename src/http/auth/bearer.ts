import type { FastifyRequest } from 'fastify';
import {
  tokenLogFields,
  requireScope,
  type TokenPrincipal,
  missingToken,
  refusedToken,
  type TokenVerifier,
} from '#access/tokens.ts';
import type { Actor, Origin } from '#shared/audit.ts';
import type { BearerContext, HttpApp } from '../context.ts';
import { headerValues } from '../requests/headers.ts';

/**
 * Every route of the area needs a token with the scope that it names. The credential is
 * checked before anything else of the request is looked at.
 */
export function requireBearer(app: HttpApp, context: BearerContext): void {
  app.addHook('onRequest', (request) => authorizeBearer(context, request));
}

/**
 * The hook alone, for areas that take other credentials, too. Refused tokens are counted by address:
 * `quota-exceeded` takes the place of the 401 in time.
 * @throws {unauthorized} @throws {insufficient-scope} @throws {identity-provider-unavailable}
 */
export async function authorizeBearer(
  { verifier, countRefusal }: BearerContext,
  request: FastifyRequest,
): Promise<void> {
  const scope = request.routeOptions.config.scope;
  if (scope === undefined) throw new Error('a bearer-protected route names no scope');
  const token = await authenticateBearer(verifier, request).catch((error: unknown) => {
    throw countRefusal(request.ip, error);
  });
  requireScope(token, scope);
  request.token = token;
  request.logFacts = tokenLogFields(token);
}

/** The principal that the hook of `requireBearer` left. */
export function tokenOf(request: FastifyRequest): TokenPrincipal {
  if (request.token === undefined) throw new Error('the bearer hook did not run');
  return request.token;
}

/** The principal as the audit log names it. */
export function actorOf({ subject, clientId }: TokenPrincipal): Actor {
  return { kind: 'token', subject, clientId };
}

/** The author of a change by this request, for the audit log. */
export function originOf(request: FastifyRequest): Origin {
  return { actor: actorOf(tokenOf(request)), requestId: request.id };
}

/** The scheme's name in any case (RFC 9110 §11.1), one blank or more, a token (RFC 6750 §2.1). */
const CREDENTIAL = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const BEARER_SCHEME = /^bearer(?: |$)/i;

/**
 * The principal of the one `Authorization` header. Its scopes are not looked at.
 * @throws {unauthorized} @throws {identity-provider-unavailable}
 */
export async function authenticateBearer(
  verifier: Pick<TokenVerifier, 'verify'>,
  request: FastifyRequest,
): Promise<TokenPrincipal> {
  const [value, ...more] = headerValues(request, 'authorization');
  if (value === undefined) throw missingToken();
  if (more.length > 0) throw refusedToken();
  const token = CREDENTIAL.exec(value.trim())?.[1];
  if (token !== undefined) return verifier.verify(token);
  throw BEARER_SCHEME.test(value.trim()) ? refusedToken() : missingToken();
}
