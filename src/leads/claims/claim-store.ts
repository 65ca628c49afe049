import type { AuditEntry } from '#shared/audit.ts';

/** Which leads a deletion has claimed at one moment. Claimed leads do not exist for readers. */
export type Claims = { has(number: number): boolean };

/** Port: the claims in the store, as of the call. Read for every response, so it must be cheap. */
export type ClaimView = {
  /** Another object whenever the claimed leads are others, else the same. @throws {store-unavailable} */
  current(): Promise<Claims>;
};

/** A lead that deletions have taken out of sight, as an operator sees it. */
export type ClaimedLead = {
  number: number;
  /** When the first claim in force was made; milliseconds since the Unix epoch. */
  claimedAt: number;
  /** The receipts whose events claim it, the first first. */
  receiptIds: readonly string[];
};

/**
 * Port: the claims in the store. They are made where a delivery is accepted
 * (`partners/receipts/receipt-store.ts`) and where an event is matched (`partners/worker/work-store.ts`).
 */
export type ClaimStore = ClaimView & {
  /**
   * Leads with a claim in force, each once, the one that was claimed last first. `next`, the `after`
   * of the next page, is there when there are more. @throws {store-unavailable}
   */
  list(page: { limit: number; after?: number }): Promise<{ items: ClaimedLead[]; next?: number }>;
  /** The lead if a claim on it is in force. @throws {store-unavailable} */
  find(number: number): Promise<ClaimedLead | undefined>;
  /**
   * Gives a lead back to readers, together with the audit entry, and returns how many claims named
   * it. The events that had claimed it do not claim it again unless they are delivered again; a new
   * event can. With no claim there is no entry. @throws {store-unavailable}
   */
  release(number: number, entry: AuditEntry): Promise<number>;
};

/** Leads that one event claims, or gives back, as a store writes them. */
export type ClaimOrder = {
  repositoryId: number;
  receiptId: string;
  /** The store's own number of the event. */
  event: number;
  numbers: readonly number[];
};

/** Whose claims these are until the store knows the number of the repository that is configured. */
export const REPOSITORY_NOT_KNOWN = 0;
