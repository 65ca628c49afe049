/** Why the issuer gave no tokens, as far as it changes what to do. */
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
  /** What it sent does not fit what was requested. */
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

/** What the callback needs to know of the request that it belongs to. All random. */
export type SignInAttempt = { state: string; nonce: string; verifier: string };

/** What the issuer gave. Tokens are bearer secrets: never logged. */
export type IssuedTokens = {
  accessToken: string;
  idToken: string;
  /** What the ID token says. */
  name?: string;
};

/** Port: the portal as a client of the issuer (OpenID Connect, code flow with PKCE). */
export type IssuerClient = {
  /**
   * Where to send the browser. `isSilent`: nobody is to be asked anything there, and the issuer was reached a
   * minute ago at most.
   * @throws {SignInFailure}
   */
  begin(attempt: SignInAttempt, options?: { isSilent?: boolean }): Promise<string>;
  /** A new attempt, of the operating system's randomness. */
  newAttempt(): SignInAttempt;
  /** Exchanges the code. `query` is that of the callback. @throws {SignInFailure} */
  complete(query: string, attempt: SignInAttempt): Promise<IssuedTokens>;
  /** Where the browser signs out at the issuer; undefined where it has no such place, or is away. */
  signOutUrl(idToken: string | undefined): Promise<string | undefined>;
};
