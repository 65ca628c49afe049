/** What a good logout token of the issuer says (OpenID Connect Back-Channel Logout 1.0 §2.4). */
export type LogoutToken = {
  /** Its `jti`: it counts once. */
  id: string;
  /** In milliseconds since the Unix epoch. */
  issuedAt: number;
  /** Whose sessions end: `sub`, `sid`, or the one session that has both. */
  issuerSubject?: string;
  issuerSession?: string;
};

/** Port: checks logout tokens. */
export type LogoutTokenVerifier = {
  /** @throws {unauthorized} it is not good @throws {identity-provider-unavailable} */
  verify(token: string): Promise<LogoutToken>;
};
