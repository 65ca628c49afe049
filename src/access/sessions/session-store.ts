/** A session as the store has it. Times are milliseconds since the Unix epoch. */
export type SessionRow = {
  /** SHA-256 of the id that the browser's cookie holds: nobody can become someone by reading it. */
  digest: Buffer;
  /** The `sub` of the ID token, by which the issuer ends sessions. */
  issuerSubject: string;
  /** The `sid` of the ID token, where the issuer gives one. */
  issuerSession?: string;
  /** An IANA name. */
  timeZone: string;
  startedAt: number;
  /** Of the last use; up to a minute behind. */
  usedAt: number;
  /** It ends then, however much it is used. */
  endsAt: number;
  /** When the access token runs out; only where it can be renewed. */
  renewAt?: number;
  /** Who it is and the issuer's tokens, encrypted. */
  sealed: Buffer;
};

/** What is shown once, by the next page. */
export type OnceRow = {
  /** SHA-256 of the id that the page's address holds. */
  digest: Buffer;
  /** The session that may see it, and which it goes with. */
  session: Buffer;
  endsAt: number;
  sealed: Buffer;
};

/** Whose sessions the issuer ends. At least one of the two is given, and both must fit. */
export type IssuerSessions = {
  issuerSubject?: string;
  issuerSession?: string;
  /** Sessions that started later are left alone: the issuer meant those before. */
  startedUntil: number;
};

/** Port: sessions of people at the portal, the same for all instances. Every call throws `store-unavailable`. */
export type SessionStore = {
  insert(row: SessionRow): Promise<void>;
  find(digest: Buffer): Promise<SessionRow | undefined>;
  /** Moves `usedAt` forward, never back. */
  touch(digest: Buffer, usedAt: number): Promise<void>;
  setTimeZone(digest: Buffer, timeZone: string): Promise<void>;
  /**
   * Whether the caller is the one to renew the session's token until `until`, at `now`. Only one is at
   * a time: a refresh token that is used twice makes issuers suspicious.
   */
  leaseRenewal(digest: Buffer, times: { now: number; until: number }): Promise<boolean>;
  /** Replaces what the issuer gave, and ends the claim. */
  renew(digest: Buffer, next: Pick<SessionRow, 'sealed' | 'renewAt'>): Promise<void>;
  /** The session is over, with all that it was to be shown. Idempotent. */
  end(digest: Buffer): Promise<void>;
  /**
   * How many were ended by a logout token, which is remembered until `endsAt` in the same commit.
   * Undefined for one that is known already: it ends nothing that began since.
   */
  endOfIssuer(
    which: IssuerSessions,
    token: { digest: Buffer; endsAt: number },
  ): Promise<number | undefined>;
  putOnce(row: OnceRow): Promise<void>;
  /** What was put, for the first who asks within its time and session. */
  takeOnce(
    which: Pick<OnceRow, 'digest' | 'session'> & { now: number },
  ): Promise<Buffer | undefined>;
  /** Removes what is over: sessions, what nobody looked at, logout tokens. Returns how many sessions. */
  purge(over: { now: number; unusedSince: number }): Promise<number>;
};
