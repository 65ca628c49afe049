import type { FastifyRequest } from 'fastify';
import { requireScope } from '#access/grants/scopes.ts';
import type { TokenPrincipal } from '#access/tokens/token-principal.ts';
import { missingToken, refusedToken, type TokenVerifier } from '#access/tokens/token-verifier.ts';
import type { AuthorizeBearer } from './bearer.ts';
import type { RefusalLimiter } from './refusal-limiter.ts';
import { headerValues } from '../requests/header-values.ts';

/** The scheme's name in any case (RFC 9110 §11.1), one blank or more, a token (RFC 6750 §2.1). */
const CREDENTIAL = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const BEARER_SCHEME = /^bearer(?: |$)/i;

export type AuthorizeBearerDeps = {
  verifier: Pick<TokenVerifier, 'verify'>;
  refusals: RefusalLimiter;
};

/** Refused tokens are counted by address: `quota-exceeded` takes the place of the 401 in time. */
export function createAuthorizeBearer({
  verifier,
  refusals,
}: AuthorizeBearerDeps): AuthorizeBearer {
  return async (request, scope) => {
    const principal = await authenticateBearer(verifier, request).catch((error: unknown) =>
      refusals.rethrow(request.ip, error),
    );
    requireScope(principal, scope);
    return principal;
  };
}

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
