/**
 * Begins sessions, and lets them go on, by the issuer's word. The access token says what a person may do, by the
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

/** Nobody is led to an issuer for so long after it could not be reached. */
const AWAY_MS = MINUTE;
const NAME_CHARACTERS_MAX = 200;

/** The portal as the issuer knows it (OpenID Connect Core §1.2). */
type RelyingParty = {
  issuer: IssuerClient;
  verifier: Pick<TokenVerifier, 'verify'>;
  sessions: Sessions;
  /** The audit log names it, too. */
  clientId: string;
  clock: Clock;
  log: Log;
};

/** The issuer's redirect to the portal, and the attempt that it belongs to. */
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

export function createSignIn(portal: RelyingParty) {
  const { issuer, clock, log } = portal;
  let awayUntilMs = -Infinity;
  const noteAway = ({ kind, reason }: SignInFailure): void => {
    awayUntilMs = clock.monotonicMs() + AWAY_MS;
    log.warn({ kind, reason }, 'the issuer cannot confirm sessions now');
  };
  return {
    newAttempt: () => issuer.newAttempt(),
    begin: (attempt: SignInAttempt) => issuer.begin(attempt),
    /** Begins without a question to the person; undefined while the issuer is out of reach. */
    beginSilently: async (attempt: SignInAttempt): Promise<string | undefined> => {
      if (clock.monotonicMs() < awayUntilMs) return undefined;
      return issuer.begin(attempt, { isSilent: true }).catch((error: unknown) => {
        noteAway(toFailure(error));
        return undefined;
      });
    },
    /**
     * Returns whose session it is now, with its id where it is a new one; undefined where the issuer turned out to be out
     * of reach, so that a session to be confirmed goes on for now. Any other failure ends that.
     * @throws {SignInFailure}
     */
    complete: async (callback: Callback): Promise<CompletedSignIn | undefined> => {
      try {
        return await completeSignIn(portal, callback);
      } catch (error) {
        const { toConfirm } = callback;
        if (!toConfirm) throw error;
        const failure = toFailure(error);
        if (failure.kind !== 'unavailable' || failure.isFromBrowser) {
          await portal.sessions.end(toConfirm);
          throw failure;
        }
        noteAway(failure);
        return undefined;
      }
    },
    signOutUrl: ({ idToken }: Session) => issuer.signOutUrl(idToken),
  };
}

/** @throws any other error */
function toFailure(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) return error;
  throw error;
}

async function completeSignIn(
  portal: RelyingParty,
  { query, attempt, toConfirm }: Callback,
): Promise<CompletedSignIn> {
  const { sessions } = portal;
  const signedIn = await toSignedIn(portal, await portal.issuer.complete(query, attempt));
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
  { verifier, clientId }: RelyingParty,
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
