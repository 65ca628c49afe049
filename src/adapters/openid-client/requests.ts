/** Sends requests to the issuer, whoever makes them, and translates their failures. */
import {
  AuthorizationResponseError,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type CustomFetch,
  None,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { readBytes } from '#shared/bytes.ts';
import { SignInFailure, type SignInFailureKind } from '#access/sessions/issuer-client.ts';

const RESPONSE_BYTES_MAX = 512 * 1024;

/** `fetch` whose responses are at most 512 KiB, and which is given up when `closed` is aborted. */
export function createBoundedFetch(closed: AbortSignal): CustomFetch {
  return async (url, options) => {
    const { signal } = options;
    const response = await fetch(url, {
      ...(options as RequestInit),
      signal: signal ? AbortSignal.any([closed, signal]) : closed,
    });
    const { status, headers, body } = response;
    const tooLarge = (): Error => new TypeError('the response is too large');
    const bytes = await readBytes(body, RESPONSE_BYTES_MAX, tooLarge);
    const isBodiless = status === 204 || status === 304;
    return new Response(isBodiless ? null : bytes, { status, headers });
  };
}

/**
 * Method by which a client shows its secret: the standard's default where the issuer takes it (OpenID Connect Core
 * §9). Without a secret the client is a public one.
 */
export function clientAuthOf(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
}

/** Words of RFC 6749 §4.1.2.1 and §5.2, of OpenID Connect Core §3.1.2.6 and of RFC 9470 §5. */
const kinds: Readonly<Record<string, SignInFailureKind>> = {
  access_denied: 'denied',
  consent_required: 'denied',
  interaction_required: 'interaction-required',
  login_required: 'interaction-required',
  account_selection_required: 'interaction-required',
  unmet_authentication_requirements: 'interaction-required',
  temporarily_unavailable: 'unavailable',
  server_error: 'unavailable',
  invalid_grant: 'grant-refused',
  invalid_client: 'client-refused',
  unauthorized_client: 'client-refused',
  invalid_scope: 'client-refused',
  invalid_request: 'client-refused',
  invalid_target: 'client-refused',
  request_not_supported: 'client-refused',
  unsupported_response_type: 'client-refused',
  unsupported_grant_type: 'client-refused',
};

/** Codes of the library for what is about the connection and not about the content. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
]);

/**
 * An error of the library in our words. What the issuer wrote besides is never shown. `isFromBrowser`:
 * nothing but what the browser brought was looked at yet.
 */
export function toSignInFailure(error: unknown, isFromBrowser = false): SignInFailure {
  if (error instanceof SignInFailure) return error;
  const options = { cause: error, isFromBrowser };
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    if (Object.hasOwn(kinds, error.error))
      return new SignInFailure(kinds[error.error] ?? 'ended', error.error, options);
    return new SignInFailure(isFromBrowser ? 'ended' : 'client-refused', 'unknown_error', options);
  }
  // The token endpoint wants other credentials (RFC 6749 §5.2).
  if (error instanceof WWWAuthenticateChallengeError)
    return new SignInFailure('client-refused', 'invalid_client', options);
  const code = error instanceof ClientError ? (error.code ?? '') : '';
  return new SignInFailure(kindOf(error, code), code === '' ? 'no_connection' : code, options);
}

function kindOf(error: unknown, code: string): SignInFailureKind {
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return 'clock';
  // The connection failed before there was a response.
  if (code === '' || CONNECTION_CODES.has(code)) return 'unavailable';
  return error instanceof ClientError ? 'invalid-response' : 'unavailable';
}
