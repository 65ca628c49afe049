/** Which leads a deletion has claimed at one moment. Claimed leads do not exist for readers. */
export type Claims = {
  /** Differs whenever the set of claimed leads differs. */
  version: string;
  has(number: number): boolean;
};

/** Port: the claims in the store, as of the call. Asked on every answer, so it must be cheap. */
export type ClaimView = {
  /** The same object as before while nothing changed. @throws {store-unavailable} */
  current(): Promise<Claims>;
};
