import { TrackportError } from '#shared/errors.ts';
import type { TokenPrincipal } from '../tokens/token-principal.ts';

/** Every scope that one of our routes needs. */
export type Scope = 'catalog:read' | 'catalog:write' | 'catalog:publish' | 'trackport:admin';

/** @throws {insufficient-scope} the token is good and does not carry the scope */
export function requireScope(principal: Pick<TokenPrincipal, 'scopes'>, scope: Scope): void {
  if (principal.scopes.includes(scope)) return;
  throw new TrackportError('insufficient-scope', {
    detail: `This needs an access token with the scope \`${scope}\`.`,
    challenge: `Bearer error="insufficient_scope", scope="${scope}"`,
  });
}

/**
 * The scopes in a token claim: text with blanks between them (RFC 8693 §4.2) or an array of texts,
 * as some issuers have it. Anything else holds none.
 */
export function parseScopes(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ').filter((scope) => scope !== '');
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string') : [];
}
