/** Causes for which the issuer gave no tokens, as far as they change what to do. */
export type SignInFailureKind =
  /** The person, or the organisation's rules, said no. */
  | 'denied'
  /** It wants to see the person first: a sign-in there, a choice of account, a second factor. */
  | 'interaction-required'
  /** The issuer ended it by a word of its own. */
  | 'ended'
  /** It cannot be reached, fails, or answers too late. */
  | 'unavailable'
  /** It does not take the client as it is configured: id, secret, redirect URI, scopes. */
  | 'client-refused'
  /** The code is not good any more. */
  | 'grant-refused'
  /** Its clock and ours differ by more than is tolerated. */
  | 'clock'
  /** Its response does not fit the request. */
  | 'invalid-response'
  /** The access token is not meant for this service, or is none that it can read. */
  | 'wrong-token'
  /** The sign-in began in another browser, too long ago, or was completed already. */
  | 'lost-attempt';

/** `reason` is a constant or a word of a standard, such as `invalid_scope`: for the log and the page. */
export class SignInFailure extends Error {
  readonly kind: SignInFailureKind;
  readonly reason: string;
  /**
   * The browser brought the news: whoever holds it can make it up, so it tells nothing of how the issuer
   * or this service is.
   */
  readonly isFromBrowser: boolean;

  constructor(
    kind: SignInFailureKind,
    reason: string,
    { isFromBrowser = false, ...options }: ErrorOptions & { isFromBrowser?: boolean } = {},
  ) {
    super(`${kind}: ${reason}`, options);
    this.name = 'SignInFailure';
    this.kind = kind;
    this.reason = reason;
    this.isFromBrowser = isFromBrowser;
  }
}

/** Ties a callback to the request that it belongs to. All random. */
export type SignInAttempt = { state: string; nonce: string; verifier: string };

/** The issuer's response to the code. Tokens are bearer secrets: never logged. */
export type IssuedTokens = {
  accessToken: string;
  idToken: string;
  /** From the ID token. */
  name?: string;
};

/** Port: the portal as a client of the issuer (OpenID Connect, code flow with PKCE). */
export type IssuerClient = {
  /**
   * Address to send the browser to. `isSilent`: nobody is to be asked anything there, and the issuer was reached a
   * minute ago at most.
   * @throws {SignInFailure}
   */
  begin(attempt: SignInAttempt, options?: { isSilent?: boolean }): Promise<string>;
  /** A new attempt, of the operating system's randomness. */
  newAttempt(): SignInAttempt;
  /** Exchanges the code. `query` is that of the callback. @throws {SignInFailure} */
  complete(query: string, attempt: SignInAttempt): Promise<IssuedTokens>;
  /** Address to sign out at the issuer; undefined where it has none, or is away. */
  signOutUrl(idToken: string | undefined): Promise<string | undefined>;
};
