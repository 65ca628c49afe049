import { DAY } from '#shared/clock.ts';

/** How long a reader who stays away can go on from its cursor; then it follows the feed no more. */
export const FEED_READABLE_MS = 30 * DAY;

/** Behind which change a read goes on: its position, then the issue number. */
export type FeedPlace = readonly [position: number, number: number];

/** What readers may know of a lead, and since when. */
export type LeadChange = {
  number: number;
  /** When it changed last, in ms since the Unix epoch; a change that is committed later has a greater one. */
  position: number;
  /** Approved, in this repository, and not claimed. */
  isVisible: boolean;
  /** By the tracker, in ms since the Unix epoch. */
  updatedAt: number;
  /** Folded. */
  labels: readonly string[];
};

/** A lead that a reader was shown by a list. `labels` are folded. */
export type ReadLead = { number: number; updatedAt: number; labels: readonly string[] };

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
  /** Changes of leads that ever carried all of these labels (folded) while they were approved, in order. */
  changesAfter(
    place: FeedPlace,
    of: { labels: readonly string[]; limit: number },
  ): Promise<readonly LeadChange[]>;
  /** Nobody can read the lead any more. */
  hide(number: number): Promise<void>;
  /** Readers have these leads from now on, though the directory may not have met them yet. */
  noteRead(leads: readonly ReadLead[]): Promise<void>;
  noteReader(reader: FeedReader): Promise<void>;
  reader(consumerId: string): Promise<FeedReader | undefined>;
  /** Whether anybody has read since `since` (ms since the Unix epoch). */
  isFollowed(since: number): Promise<boolean>;
  /** Calls `onChanged` soon after a change was committed by anybody, and whenever one may have been missed. */
  watch(onChanged: () => void): { close(): Promise<void> };
};
