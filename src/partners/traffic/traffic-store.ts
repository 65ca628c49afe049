/**
 * What became of deliveries before anything was accepted: `verified` (then `detail` is the start of the
 * secret's digest) or `refused` (then it is the reason).
 */
export type TrafficKind = 'verified' | 'refused';

/** Deliveries of one sender in one UTC day that ended alike. */
export type TrafficCount = {
  /** A partner's id, or `TRACKER`. Never what a request merely claims to be. */
  sender: string;
  kind: TrafficKind;
  detail: string;
  /** Days since the Unix epoch. */
  day: number;
  count: number;
  /** When the last of them came, in milliseconds since the Unix epoch. */
  lastAt: number;
};

/** Days that the record goes back. */
export const TRAFFIC_DAYS = 30;

/** The record of traffic, shared by all instances. */
export type TrafficStore = {
  /**
   * Adds to what is there, and drops days that are too old. One transaction.
   * @throws {store-unavailable}
   */
  add(counts: readonly TrafficCount[]): Promise<void>;
  /** Every count from `day` on. @throws {store-unavailable} */
  readSince(day: number): Promise<TrafficCount[]>;
};
