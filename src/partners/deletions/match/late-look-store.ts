/** A person whose leads an event has matched, and for whom is looked again. */
export type LateLook = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  /** When the match was certain; ms since the Unix epoch. */
  matchedAt: number;
};

/**
 * Port: looking again for leads that the tracker showed late. A look outlives its event's payload: it
 * keeps one keyed hash, and what is to be done to a lead. Every call throws `store-unavailable`
 * when the store fails, and then nothing has changed.
 */
export type LateLookStore = {
  /** Up to `limit` looks that are due, longest due first. */
  dueLooks(now: number, limit: number): Promise<readonly LateLook[]>;
  /** When the next one is due; ms since the Unix epoch. */
  nextLookAt(): Promise<number | undefined>;
  /**
   * Claims for the event, in one transaction, every lead of the person that it has had nothing to do
   * with and that is not newer than the match, and has it acted on: an event that was settled is open
   * again. Then the next look is due at `nextAt`; without one this was the last. Returns the leads. An
   * event that is being matched is looked at when it is due again, at `retryAt`.
   */
  lookAgain(
    look: LateLook,
    when: { now: number; retryAt: number; nextAt?: number },
  ): Promise<readonly number[]>;
};
