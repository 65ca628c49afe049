import type { LeadChange, ReadLead } from './lead-change.ts';

/** Behind which change a read goes on: its position, then the issue number. */
export type FeedPlace = readonly [position: number, number: number];

/** A consumer that follows the feed. Instants are ms since the Unix epoch. */
export type FeedReader = { consumerId: string; position: number; readAt: number };

/**
 * Port: the changes of leads, for the repository of the configured name. One row for each lead that could ever be
 * read, in the order in which they changed last; rows of leads that went are kept for 30 days. Every call throws
 * `store-unavailable` when the store fails.
 */
export type FeedStore = {
  /** The place behind all changes; undefined while the store does not know the repository. */
  end(): Promise<FeedPlace | undefined>;
  /** The next changes, in order. */
  changesAfter(place: FeedPlace, limit: number): Promise<readonly LeadChange[]>;
  /** Nobody can read the lead any more; not one that changed since `before`, a position. */
  hide(number: number, before?: number): Promise<void>;
  /**
   * Readers have these leads from now on, though the directory may not have met them yet. Answers the positions of
   * those whose change tells nothing else.
   */
  noteRead(leads: readonly ReadLead[]): Promise<ReadonlyMap<number, number>>;
  noteReader(reader: FeedReader): Promise<void>;
  reader(consumerId: string): Promise<FeedReader | undefined>;
  /** Whether anybody has read since `since` (ms since the Unix epoch). */
  isFollowed(since: number): Promise<boolean>;
  /** Calls `onChanged` soon after a change was committed by anybody, and whenever one may have been missed. */
  watch(onChanged: () => void): { close(): Promise<void> };
};
