/**
 * How sessions begin, and go on by the issuer's word. What a person may do is what the access token says, by the
 * same rules as for any caller of the API; the ID token gives the name.
 */
import { type Clock, MINUTE } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';

import type { TokenPrincipal, TokenVerifier } from '../tokens.ts';
import {
  type IssuedTokens,
  type IssuerClient,
  type SignInAttempt,
  SignInFailure,
} from './issuer-client.ts';
import type { Session, Sessions, SignedIn } from './sessions.ts';

/** How long nobody is led to an issuer that could not be reached. */
const AWAY_MS = MINUTE;
const NAME_CHARACTERS_MAX = 200;

type SignInDeps = {
  issuer: IssuerClient;
  verifier: Pick<TokenVerifier, 'verify'>;
  sessions: Sessions;
  /** What the issuer knows the portal as: the audit log names it. */
  clientId: string;
  clock: Clock;
  log: Log;
};

/** What came back from the issuer to the browser, and what it belongs to. */
type Callback = {
  query: string;
  attempt: SignInAttempt;
  /** The session that is to be confirmed: nobody was asked anything at the issuer. */
  toConfirm?: Session;
};

export type CompletedSignIn = {
  /** Of a session that began with it. */
  id?: string;
  principal: TokenPrincipal;
};

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn(deps: SignInDeps) {
  const { issuer, clock, log } = deps;
  let awayUntilMs = -Infinity;
  const noteAway = ({ kind, reason }: SignInFailure): void => {
    awayUntilMs = clock.monotonicMs() + AWAY_MS;
    log.warn({ kind, reason }, 'the issuer cannot confirm sessions now');
  };
  return {
    newAttempt: () => issuer.newAttempt(),
    begin: (attempt: SignInAttempt) => issuer.begin(attempt),
    /** The same without a question to the person there; undefined while the issuer is out of reach. */
    beginSilently: async (attempt: SignInAttempt): Promise<string | undefined> => {
      if (clock.monotonicMs() < awayUntilMs) return undefined;
      return issuer.begin(attempt, { isSilent: true }).catch((error: unknown) => {
        noteAway(toFailure(error));
        return undefined;
      });
    },
    /**
     * Whose session it is now, with its id where it is a new one; undefined where the issuer turned out to be out
     * of reach, so that a session to be confirmed goes on for now. Any other failure ends that.
     * @throws {SignInFailure}
     */
    complete: async (callback: Callback): Promise<CompletedSignIn | undefined> => {
      try {
        return await completeSignIn(deps, callback);
      } catch (error) {
        const { toConfirm } = callback;
        if (!toConfirm) throw error;
        const failure = toFailure(error);
        if (failure.kind !== 'unavailable' || failure.isFromBrowser) {
          await deps.sessions.end(toConfirm);
          throw failure;
        }
        noteAway(failure);
        return undefined;
      }
    },
    signOutUrl: ({ idToken }: Pick<Session, 'idToken'>) => issuer.signOutUrl(idToken),
  };
}

/** @throws what is none */
function toFailure(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) return error;
  throw error;
}

async function completeSignIn(
  deps: SignInDeps,
  { query, attempt, toConfirm }: Callback,
): Promise<CompletedSignIn> {
  const { sessions } = deps;
  const signedIn = await toSignedIn(deps, await deps.issuer.complete(query, attempt));
  const { principal } = signedIn;
  // Forms in other tabs are of this session: it goes on.
  if (toConfirm?.principal.subject === principal.subject) {
    await sessions.signInAgain(toConfirm, signedIn);
    return { principal };
  }
  return { id: await sessions.start(signedIn), principal };
}

/** @throws {SignInFailure} the access token does not fit this service */
async function toSignedIn(
  { verifier, clientId }: SignInDeps,
  { accessToken, idToken, name }: IssuedTokens,
): Promise<SignedIn> {
  try {
    const principal = await verifier.verify(accessToken);
    return {
      principal: { ...principal, clientId },
      name: (name ?? principal.subject).slice(0, NAME_CHARACTERS_MAX),
      idToken,
    };
  } catch (error) {
    if (isTrackportError(error, 'unauthorized'))
      throw new SignInFailure('wrong-token', 'access_token_refused', { cause: error });
    if (isTrackportError(error, 'identity-provider-unavailable'))
      throw new SignInFailure('unavailable', 'no_keys', { cause: error });
    throw error;
  }
}
