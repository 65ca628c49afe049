/** A session as the store has it. Times are milliseconds since the Unix epoch. */
export type SessionRow = {
  /** SHA-256 of the id that the browser's cookie holds: nobody can become someone by reading it. */
  digest: Buffer;
  /** When the issuer said last who it is. */
  signedInAt: number;
  /** Of the last use; up to a minute behind. */
  usedAt: number;
  /** It ends then, however much it is used. */
  endsAt: number;
  /** Who it is and the ID token, encrypted. */
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

/** Port: sessions of people at the portal, the same for all instances. Every call throws `store-unavailable`. */
export type SessionStore = {
  insert(row: SessionRow): Promise<void>;
  find(digest: Buffer): Promise<SessionRow | undefined>;
  /** Moves `usedAt` forward, never back. */
  touch(digest: Buffer, usedAt: number): Promise<void>;
  /** Replaces what the issuer said, and when. */
  signInAgain(digest: Buffer, next: Pick<SessionRow, 'sealed' | 'signedInAt'>): Promise<void>;
  /** The session is over, with all that it was to be shown. Idempotent. */
  end(digest: Buffer): Promise<void>;
  putOnce(row: OnceRow): Promise<void>;
  /** What was put, for the first who asks within its time and session. */
  takeOnce(
    which: Pick<OnceRow, 'digest' | 'session'> & { now: number },
  ): Promise<Buffer | undefined>;
  /** Removes what is over: sessions, what nobody looked at. Returns how many sessions. */
  purge(over: { now: number; unusedSince: number }): Promise<number>;
};
