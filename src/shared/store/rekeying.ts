/** An accepted delivery with an event that waits to be matched, for which it has to be read. */
export type UnreadReceipt = {
  id: string;
  partnerId: string;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
};

/** Answers the fingerprint of the key that a store gets; nothing is changed when it rejects. */
export type Rekeying = (
  lost: readonly UnreadReceipt[],
  former: Buffer | undefined,
) => Promise<Buffer>;
