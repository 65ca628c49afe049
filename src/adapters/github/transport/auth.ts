import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { Clock } from '#shared/clock.ts';
import { normalizePrivateKey, type Secret } from '#shared/crypto/secret.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import {
  failureOf,
  fetchBounded,
  readRejection,
  TrackerFailure,
  transportFailure,
} from './response.ts';

export type TrackerCredential = { token: Secret } | AppCredential;

type AppCredential = {
  appId: string;
  installationId: string;
  privateKey: Secret;
  /** To speak for the App itself and not for its installation: about its webhook. */
  isForApp?: boolean;
};

/**
 * Worth of the tracker's word on rights: of a user it tells what the *user* may do, of a
 * classic token also what its scopes are, and what it tells an App is about other things than issues.
 * @see https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
 */
export type CredentialKind = 'classic' | 'user' | 'app';

export function credentialKindOf(credential: TrackerCredential): CredentialKind {
  if (!('token' in credential)) return 'app';
  const token = credential.token.reveal();
  if (/^gh[su]_/.test(token)) return 'app';
  return token.startsWith('github_pat_') ? 'user' : 'classic';
}

/** Hands out the token of one credential. */
export type TokenSource = {
  /** @throws {TrackerFailure} when an installation token cannot be made */
  current(): Promise<string>;
  /**
   * A token newer than `refused`, made once for all callers that were refused together; undefined
   * when the credential cannot be renewed. @throws {TrackerFailure}
   */
  renewed(refused: string): Promise<string | undefined>;
};

type Endpoint = { apiUrl: string; requestTimeoutMs: number; clock: Clock };

/** Octokit writes addresses and upstream messages into its log, so it gets none; its requests need to be told, too. */
export const noOctokitLog = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}

/** @throws {TypeError} when the private key is unusable; the message names no part of it */
export function createTokenSource(endpoint: Endpoint, credential: TrackerCredential): TokenSource {
  if ('token' in credential) {
    const token = credential.token.reveal();
    return {
      current: () => Promise.resolve(token),
      renewed: () => Promise.resolve(undefined),
    };
  }
  const mint = createMint(endpoint, credential);
  let latest: string | undefined;

  const renew = createSingleFlight(async () => {
    latest = undefined;
    latest = await mint({ refresh: true });
    return latest;
  });

  return {
    // Without a known good token the cache of auth-app may hold one that was never valid.
    current: async () => {
      if (latest === undefined) return renew();
      latest = await mint({ refresh: false });
      return latest;
    },
    renewed: async (refused) => (latest !== undefined && latest !== refused ? latest : renew()),
  };
}

type Mint = (options: { refresh: boolean }) => Promise<string>;

/** Tokens by `@octokit/auth-app`, loaded for the first: it keeps those of an installation for 59 minutes. */
function createMint(
  { apiUrl, requestTimeoutMs, clock }: Endpoint,
  credential: AppCredential,
): Mint {
  const key = normalizePrivateKey(credential.privateKey.reveal());
  if (key.kind === 'refused') throw new TypeError(key.problem);
  const { appId, installationId } = credential;
  const auth = { appId, installationId, privateKey: key.pem };
  const openOctokit = async (): Promise<Octokit> => {
    const { createAppAuth: authStrategy } = await import('@octokit/auth-app');
    const request = { fetch: fetchWithin(requestTimeoutMs), log: noOctokitLog };
    return new Octokit({ baseUrl: apiUrl, log: noOctokitLog, authStrategy, auth, request });
  };
  let opened: Promise<Octokit> | undefined;
  return async ({ refresh }) => {
    const octokit = await (opened ??= openOctokit());
    const granted = await octokit
      .auth(credential.isForApp ? { type: 'app' } : { type: 'installation', refresh })
      .catch((error: unknown) => Promise.reject(mintFailure(error, clock)));
    const parsed = z.object({ token: z.string().min(1) }).safeParse(granted);
    if (!parsed.success) throw new TrackerFailure('nonsense');
    return parsed.data.token;
  };
}

function fetchWithin(timeoutMs: number): typeof fetch {
  return (url, init) =>
    fetchBounded(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
}

function mintFailure(error: unknown, clock: Clock): TrackerFailure {
  const rejection = readRejection(error);
  if (!rejection) return transportFailure(error);
  if (rejection.status === 410) return new TrackerFailure('version-retired', { status: 410 });
  // An unknown app or installation is 404: the credential is what is wrong, not the repository.
  if ([400, 404, 422].includes(rejection.status))
    return new TrackerFailure('unauthorized', { status: rejection.status });
  return failureOf(rejection, clock.now());
}
