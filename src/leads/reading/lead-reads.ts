import type { Pagination } from '#shared/page.ts';

/** A lead as consumers see it. What nothing is known of is omitted. */
export type Lead = {
  id: string;
  /** The issue's own address, where the configuration asks for it. */
  url?: string;
  title: string;
  state: 'open' | 'closed';
  priority?: string;
  assignee?: string;
  labels: readonly string[];
  createdAt: string;
  updatedAt: string;
  contact: Contact;
  connect: { correlationId?: string; portalRunUrl?: string };
};

export type Contact = {
  firstName?: string;
  email?: string;
  company?: string;
  interest?: string;
  message?: string;
  sourcePage?: string;
  /** Fields of the form that the configuration exposes, by their names. */
  fields?: Readonly<Record<string, string>>;
};

export type LeadList = { items: readonly Lead[]; pagination: Pagination };

export type LeadState = 'open' | 'closed' | 'all';

/** A read of the list, already validated. */
export type LeadListQuery = {
  /** 1 to 100. */
  limit: number;
  /** Default `open`, or behind a cursor what its list was read with; so are the other filters. */
  state?: LeadState;
  /** Names in any case and order; a lead carries all of them. */
  labels: readonly string[];
  /** Milliseconds since the Unix epoch, inclusive. Turns the order to longest unchanged first. */
  since?: number;
  cursor?: string;
};

/** What a consumer may see. `labels` come from its grant: every lead it sees carries all of them. */
export type Visibility = { consumerId: string; labels: readonly string[] };

/** How an answer came about, for `Age` and `Cache-Status` (RFC 9211). */
export type CacheFacts = {
  /** `hit`: no call was needed. `miss`: at least one call. `stale`: the tracker failed, last good answer. */
  outcome: 'hit' | 'miss' | 'stale';
  /** Milliseconds since the oldest part was last confirmed by the tracker. */
  ageMs: number;
  /** Milliseconds until it stops being fresh; ≤ 0 when stale. */
  ttlMs: number;
};

/** `value` is the same object as long as nothing in it changed, so that a rendering can be kept. */
export type Answer<T> = { value: T; cache: CacheFacts };

/** Reading leads. Values never hold a lead that is claimed, unapproved or outside the visibility. */
export type LeadReader = {
  /**
   * @throws {invalid-cursor} @throws {tracker-failed} @throws {tracker-unavailable}
   * @throws {store-unavailable} when the claims cannot be read
   */
  list(query: LeadListQuery, visibility: Visibility): Promise<Answer<LeadList>>;
  /**
   * @throws {lead-not-found} also for what is not approved, not visible, claimed, or no number
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  read(id: string, visibility: Visibility): Promise<Answer<Lead>>;
};
