import { TrackportError } from '#shared/errors.ts';
import { isLoggableId } from '#shared/ids.ts';
import type { LogFields } from '#shared/log.ts';

/** State of the issuer's keys, for people who look after the service. */
export type IssuerStatus = {
  /**
   * `unknown`: no request yet. `ok`: the last request to the issuer worked. `failing`: it did not, and
   * tokens signed with known keys still pass. `unavailable`: no usable keys, so no token passes.
   */
  state: 'unknown' | 'ok' | 'failing' | 'unavailable';
  /** Number of known keys. */
  keys: number;
  /** Time of the last fetch: milliseconds since the Unix epoch. */
  fetchedAt?: number;
  /** Failure of the last request, in words for an operator. */
  failure?: string;
};

/** Port: checks bearer tokens of the configured issuer. */
export type TokenVerifier = {
  /**
   * Returns whom the token speaks for, after its signature, issuer, audience, type and times were checked.
   * @throws {unauthorized} the token is not good, whatever the reason
   * @throws {identity-provider-unavailable} it cannot be checked, because the issuer gives no keys
   */
  verify(token: string): Promise<TokenPrincipal>;
  status(): IssuerStatus;
};

/** A request that brings no bearer token at all. @see RFC 6750 §3.1 */
export function missingToken(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'Send an access token: `Authorization: Bearer <token>`.',
    challenge: 'Bearer',
  });
}

/** A token that is not good. One text for every reason but those of `refusedClaim`; `cause` is for the log. */
export function refusedToken(cause?: unknown): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The access token is malformed, expired, or not meant for this service.',
    challenge: 'Bearer error="invalid_token"',
    cause,
  });
}

/**
 * A token of the issuer, by its signature, that is no good for what it says: its holder may know. The log
 * has the token claim behind the name of the error. `description` goes between double quotes.
 */
export function refusedClaim(claim: string, description: string): TrackportError {
  return new TrackportError('unauthorized', {
    detail: `The access token is refused: ${description}.`,
    challenge: `Bearer error="invalid_token", error_description="${description}"`,
    cause: Object.assign(new Error(description), { name: 'TokenRefused', code: claim }),
  });
}

/** Caller with a verified bearer token. */
export type TokenPrincipal = {
  /** The token's `sub`, else its client. */
  subject: string;
  /** The token's client: `client_id`, or what the issuer calls it. */
  clientId?: string;
  scopes: readonly string[];
  /** From the configured token claim, else `default`. */
  workspaceId: string;
};

/** A token's holder in lines of the log, without an id that may be a person's address or name. */
export function tokenLogFields({ subject, workspaceId, clientId }: TokenPrincipal): LogFields {
  const ids = Object.entries({ subject, workspaceId, clientId });
  return Object.fromEntries(ids.filter(([, id]) => id !== undefined && isLoggableId(id)));
}

/** Every scope that one of our routes needs. */
export type Scope = 'catalog:read' | 'catalog:write' | 'catalog:publish' | 'trackport:admin';

/** @throws {insufficient-scope} the token is good and does not carry the scope */
export function requireScope(principal: TokenPrincipal, scope: Scope): void {
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
