/** A person whose leads an event has matched, and for whom is looked again. */
export type Recheck = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  /** When the match was certain; ms since the Unix epoch. */
  matchedAt: number;
};

/**
 * Port: looking again for leads that the tracker showed late. One outlives its event's payload: it
 * keeps one keyed hash, and what is to be done to a lead. Every call throws `store-unavailable`
 * when the store fails, and then nothing has changed.
 */
export type RecheckStore = {
  /** Up to `limit` rechecks that are due, longest due first. */
  dueRechecks(now: number, limit: number): Promise<readonly Recheck[]>;
  /** When the next one is due; ms since the Unix epoch. */
  nextRecheckAt(): Promise<number | undefined>;
  /**
   * Claims for the event, in one transaction, every lead of the person that it has had nothing to do
   * with and that is not newer than the match, and has it acted on: an event that was settled is open
   * again. Then the next one is due at `nextAt`; without one this was the last. Returns the leads. An
   * event that is being matched is looked at when it is due again, at `retryAt`.
   */
  recheck(
    one: Recheck,
    when: { now: number; retryAt: number; nextAt?: number },
  ): Promise<readonly number[]>;
};
