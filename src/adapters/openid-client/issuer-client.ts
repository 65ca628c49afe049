/**
 * Sign-in at the issuer by `openid-client`: authorization code flow with PKCE, state and nonce. What the
 * issuer offers is found by discovery, once a day.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  clockTolerance,
  Configuration,
  customFetch,
  discovery,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';

import type { IssuedTokens, IssuerClient, SignInAttempt } from '#access/sessions/issuer-client.ts';
import { type Clock, DAY, MINUTE, SECOND } from '#shared/clock.ts';
import { isLoopbackHost } from '#shared/text/address.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';

import { clientAuthOf, createBoundedFetch, toSignInFailure } from './requests.ts';

const REQUEST_TIMEOUT_SECONDS = 5;
const DISCOVERY_TTL_MS = DAY;
/** Before a browser is led there unasked. */
const REACHED_WITHIN_MS = MINUTE;

/** The portal as it is registered at the issuer (RFC 6749 §2). */
export type RegisteredClient = {
  /** Exactly as tokens name it. */
  issuer: string;
  clientId: string;
  /** Read for each request, since a reload can replace it; undefined: a public client. */
  clientSecret: () => string | undefined;
  scopes: readonly string[];
  /** Audience of the access token; issuers that do not know the parameter pass it over. */
  audience: string;
  /** For issuers that want it named as RFC 8707 has it. */
  resource?: string;
  redirectUri: () => string;
  /** The issuer leads there after sign-out. */
  signedOutUri: () => string;
  clockToleranceMs: number;
  clock: Clock;
  /** Gives up requests under way. */
  closed: AbortSignal;
};

export function createIssuerClient(client: RegisteredClient): IssuerClient {
  const findServer = rememberServer(client);
  const configure = async (withinMs?: number): Promise<Configuration> =>
    configurationOf(client, await findServer(withinMs));
  return {
    newAttempt: () => ({
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    }),
    begin: ({ state, nonce, verifier }, { isSilent = false } = {}) =>
      translated(async () => {
        const configuration = await configure(isSilent ? REACHED_WITHIN_MS : undefined);
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: client.redirectUri(),
          scope: client.scopes.join(' '),
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state,
          nonce,
          audience: client.audience,
          ...(isSilent && { prompt: 'none' }),
          ...resourceOf(client),
        });
        return url.href;
      }),
    complete: (query, attempt) => completeGrant(client, configure, { query, attempt }),
    signOutUrl: async (idToken) => {
      const configuration = await configure().catch(() => undefined);
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: client.signedOutUri(),
        ...(idToken !== undefined && { id_token_hint: idToken }),
      }).href;
    },
  };
}

type Callback = { query: string; attempt: SignInAttempt };

async function completeGrant(
  client: RegisteredClient,
  configure: () => Promise<Configuration>,
  { query, attempt: { state, nonce, verifier } }: Callback,
): Promise<IssuedTokens> {
  const configuration = await translated(configure);
  const send = createBoundedFetch(client.closed);
  let isSent = false;
  configuration[customFetch] = (url, options) => {
    isSent = true;
    return send(url, options);
  };
  return translated(
    async () => {
      const tokens = await authorizationCodeGrant(
        configuration,
        new URL(`${client.redirectUri()}?${query}`),
        {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        },
        resourceOf(client),
      );
      return toIssuedTokens(tokens);
    },
    // Until the code is sent to the issuer, all that is looked at came with the browser.
    () => !isSent,
  );
}

async function translated<T>(work: () => Promise<T>, isFromBrowser = () => false): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSignInFailure(error, isFromBrowser());
  }
}

function resourceOf({ resource }: RegisteredClient): Record<string, string> {
  return resource === undefined ? {} : { resource };
}

/** Discovery, shared by those who wait for it. A failure is not remembered. */
function rememberServer(client: RegisteredClient): (withinMs?: number) => Promise<ServerMetadata> {
  const { issuer, clientId } = client;
  let known: { server: ServerMetadata; at: number } | undefined;
  const find = createSingleFlight(async () => {
    const configuration = await discovery(new URL(issuer), clientId, undefined, None(), {
      timeout: REQUEST_TIMEOUT_SECONDS,
      [customFetch]: createBoundedFetch(client.closed),
      execute: isLoopback(issuer) ? [allowInsecureRequests] : [],
    });
    known = { server: configuration.serverMetadata(), at: client.clock.monotonicMs() };
    return known.server;
  });
  return async (withinMs = DISCOVERY_TTL_MS) =>
    known && client.clock.monotonicMs() - known.at < withinMs ? known.server : find();
}

function configurationOf(client: RegisteredClient, server: ServerMetadata): Configuration {
  const tolerance = { [clockTolerance]: Math.ceil(client.clockToleranceMs / SECOND) };
  const auth = clientAuthOf(client.clientSecret());
  const configuration = new Configuration(server, client.clientId, tolerance, auth);
  configuration.timeout = REQUEST_TIMEOUT_SECONDS;
  configuration[customFetch] = createBoundedFetch(client.closed);
  if (isLoopback(client.issuer)) allowInsecureRequests(configuration);
  return configuration;
}

/** Secrets go over a network by https only; loopback is no network. */
function isLoopback(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && isLoopbackHost(hostname);
}

function toIssuedTokens(
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
): IssuedTokens {
  const { access_token: accessToken, id_token: idToken = '' } = tokens;
  const name = tokens.claims()?.['name'];
  return { accessToken, idToken, ...(typeof name === 'string' && { name }) };
}
