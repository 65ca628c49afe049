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
