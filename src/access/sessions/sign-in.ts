/**
 * How sessions begin, go on and end at the issuer's word. What a person may do is what the access token
 * says, by the same rules as for any caller of the API; the ID token gives the name.
 */
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';

import { refusedToken, type TokenPrincipal, type TokenVerifier } from '../tokens.ts';
import {
  type IssuedTokens,
  type IssuerClient,
  type LogoutTokenVerifier,
  type SignInAttempt,
  SignInFailure,
  type SignInFailureKind,
} from './issuer-client.ts';
import type { Session, Sessions, SignedIn } from './sessions.ts';

/** While one instance renews a token the others go on with what they know, and after a failure it, too. */
const RENEWAL_MS = 30 * SECOND;
/** Logout tokens that are older are refused by their age. */
const LOGOUT_MEMORY_MS = 15 * MINUTE;
const NAME_CHARACTERS_MAX = 200;
/** By these a renewal is refused for good. */
const ENDING: ReadonlySet<SignInFailureKind> = new Set([
  'grant-refused',
  'denied',
  'interaction-required',
  'wrong-token',
]);

type SignInDeps = {
  issuer: IssuerClient;
  verifier: Pick<TokenVerifier, 'verify'>;
  logoutTokens: LogoutTokenVerifier;
  sessions: Sessions;
  /** What the issuer knows the portal as: the audit log names it. */
  clientId: string;
  /** How far the issuer's clock may be off. */
  clockToleranceMs: number;
  clock: Pick<Clock, 'now'>;
  log: Log;
};

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn(deps: SignInDeps) {
  const { issuer } = deps;
  return {
    newAttempt: () => issuer.newAttempt(),
    begin: (attempt: SignInAttempt) => issuer.begin(attempt),
    /**
     * Returns the new session's id and whose it is. `timeZone` is the browser's, where it told.
     * @throws {SignInFailure}
     */
    complete: (query: string, attempt: SignInAttempt & { timeZone?: string }) =>
      completeSignIn(deps, query, attempt),
    /** The session with what the issuer says now; undefined when the issuer ended it. */
    refresh: (session: Session) => refreshSession(deps, session),
    /** How many sessions ended. @throws {unauthorized} @throws {identity-provider-unavailable} */
    endByIssuer: (logoutToken: string) => endByIssuer(deps, logoutToken),
    signOutUrl: ({ idToken }: Pick<Session, 'idToken'>) => issuer.signOutUrl(idToken),
  };
}

async function completeSignIn(
  deps: SignInDeps,
  query: string,
  { timeZone, ...attempt }: SignInAttempt & { timeZone?: string },
): Promise<{ id: string; principal: TokenPrincipal }> {
  const tokens = await deps.issuer.complete(query, attempt);
  if (!tokens.identity) throw new SignInFailure('invalid-response', 'no_id_token');
  const { subject, session } = tokens.identity;
  const signedIn = await toSignedIn(deps, tokens);
  const id = await deps.sessions.start({
    ...signedIn,
    issuerSubject: subject,
    issuerSession: session,
    timeZone,
  });
  return { id, principal: signedIn.principal };
}

/** @throws {SignInFailure} the access token does not fit this service */
async function toSignedIn(
  { verifier, clientId }: SignInDeps,
  tokens: IssuedTokens,
): Promise<SignedIn> {
  const { accessToken, endsAt, refreshToken, idToken, identity } = tokens;
  try {
    const principal = await verifier.verify(accessToken);
    return {
      principal: { ...principal, clientId },
      name: (identity?.name ?? principal.subject).slice(0, NAME_CHARACTERS_MAX),
      tokenEndsAt: endsAt,
      refreshToken,
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

/**
 * A token that ran out is renewed where the issuer gave the means. Its refusal ends the session. An
 * issuer that cannot be reached ends nothing: what it said last counts until the session's own limits,
 * so that an outage there is none here.
 */
async function refreshSession(deps: SignInDeps, session: Session): Promise<Session | undefined> {
  const { refreshToken, renewAt } = session;
  if (refreshToken === undefined || renewAt === undefined) return session;
  if (deps.clock.now() < renewAt || !(await mayRenew(deps, session))) return session;
  try {
    const renewed = await renewSignedIn(deps, session, refreshToken);
    await deps.sessions.renew(session, renewed);
    return { ...session, ...renewed };
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    const { kind, reason } = error;
    const isOver = ENDING.has(kind);
    deps.log.warn({ kind, reason, ended: isOver }, 'the issuer did not renew a session');
    if (!isOver) return session;
    await deps.sessions.end(session);
    return undefined;
  }
}

/** While the store takes no writes what is known goes on. */
async function mayRenew({ sessions }: SignInDeps, session: Session): Promise<boolean> {
  try {
    return await sessions.leaseRenewal(session, RENEWAL_MS);
  } catch (error) {
    if (isTrackportError(error, 'store-unavailable')) return false;
    throw error;
  }
}

async function renewSignedIn(
  deps: SignInDeps,
  { principal, name, idToken }: Session,
  refreshToken: string,
): Promise<SignedIn> {
  const tokens = await deps.issuer.renew(refreshToken);
  const renewed = await toSignedIn(deps, { refreshToken, ...tokens });
  if (renewed.principal.subject !== principal.subject)
    throw new SignInFailure('wrong-token', 'other_subject');
  return {
    ...renewed,
    name: tokens.identity?.name ?? name,
    ...(renewed.idToken === undefined && idToken !== undefined && { idToken }),
  };
}

async function endByIssuer(deps: SignInDeps, logoutToken: string): Promise<number> {
  const { logoutTokens, sessions, clock, log, clockToleranceMs } = deps;
  const { id, issuedAt, ...whose } = await logoutTokens.verify(logoutToken);
  // Its time has whole seconds.
  const startedUntil = issuedAt + SECOND + clockToleranceMs;
  const token = { digest: sha256(id), endsAt: clock.now() + LOGOUT_MEMORY_MS };
  const count = await sessions.endOfIssuer({ ...whose, startedUntil }, token);
  if (count === undefined) throw refusedToken();
  log.info({ count }, 'the issuer ended sessions');
  return count;
}
