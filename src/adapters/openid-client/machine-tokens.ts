/** Access tokens for a machine, by the client credentials grant (RFC 6749 §4.4) at an issuer found by discovery. */
import {
  allowInsecureRequests,
  clientCredentialsGrant,
  type Configuration,
  customFetch,
  discovery,
} from 'openid-client';
import {
  type MachineClient,
  TargetFailure,
  type TokenSource,
} from '#catalog/import/import-target.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { clientAuthOf, createBoundedFetch, toSignInFailure } from './requests.ts';

const REQUEST_TIMEOUT_SECONDS = 15;
/** A token that is used up while a request is under way is renewed after its 401. */
const RENEW_BEFORE_END_MS = 30 * SECOND;

/** Tokens of a client, renewed before they end. */
export function createMachineTokens(
  client: MachineClient,
  clock: Pick<Clock, 'monotonicMs'>,
): TokenSource {
  const request = createTokenRequest(client);
  let current: { token: string; goodUntil: number } | undefined;
  return {
    token: async () => {
      if (!current || clock.monotonicMs() >= current.goodUntil) {
        const { token, lifetimeMs = Infinity } = await request();
        const spareMs = Math.min(RENEW_BEFORE_END_MS, lifetimeMs / 2);
        current = { token, goodUntil: clock.monotonicMs() + lifetimeMs - spareMs };
      }
      return current.token;
    },
    renew: () => {
      current = undefined;
    },
  };
}

/** `lifetimeMs` is absent where the issuer does not tell it. */
type MachineToken = { token: string; lifetimeMs?: number };

/**
 * Requests tokens for one client. The issuer is looked up once.
 * @throws {TargetFailure} when the issuer cannot be used, or refuses
 */
export function createTokenRequest(client: MachineClient): () => Promise<MachineToken> {
  let configured: Promise<Configuration> | undefined;
  return async () => {
    try {
      const configuration = await (configured ??= configure(client));
      const tokens = await clientCredentialsGrant(configuration, {
        scope: client.scope,
        ...(client.audience !== undefined && { audience: client.audience }),
      });
      const lifetime = tokens.expiresIn();
      return {
        token: tokens.access_token,
        ...(lifetime !== undefined && { lifetimeMs: lifetime * SECOND }),
      };
    } catch (error) {
      throw toTargetFailure(error, client);
    }
  };
}

function configure(client: MachineClient): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = client;
  return discovery(new URL(issuer), clientId, undefined, clientAuthOf(clientSecret.reveal()), {
    timeout: REQUEST_TIMEOUT_SECONDS,
    [customFetch]: createBoundedFetch(new AbortController().signal),
    execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
  });
}

/** Shows nothing else that the issuer wrote. */
function toTargetFailure(error: unknown, { issuer, scope }: MachineClient): TargetFailure {
  const { kind, reason } = toSignInFailure(error);
  const words = {
    unavailable: `The issuer ${issuer} cannot be used: ${reason}. Look whether --issuer is its address.`,
    'client-refused': `The issuer ${issuer} refuses the client: ${reason}. Look at --client-id, TRACKPORT_CLIENT_SECRET, and whether it may have the scopes "${scope}".`,
  };
  const known = kind === 'unavailable' || kind === 'client-refused' ? words[kind] : undefined;
  const message = known ?? `The issuer ${issuer} gave no token: ${reason}.`;
  return new TargetFailure(message, { cause: error });
}
