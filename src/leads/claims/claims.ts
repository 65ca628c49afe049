/** Which leads a deletion has claimed at one moment. Claimed leads do not exist for readers. */
export type Claims = { has(number: number): boolean };

/** Port: the claims in the store, as of the call. Asked on every answer, so it must be cheap. */
export type ClaimView = {
  /** Another object whenever the claimed leads are others, else the same. @throws {store-unavailable} */
  current(): Promise<Claims>;
};
