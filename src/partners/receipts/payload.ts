import type { Sealer } from '#shared/crypto/sealer.ts';

/** Binds an event's payload to its place: elsewhere it cannot be opened. */
export function payloadIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}`;
}

/** The bytes of an event; undefined when they were sealed under another secret key. */
export function openPayload(
  sealer: Sealer,
  { receiptId, position }: { receiptId: string; position: number },
  sealed: Buffer,
): Buffer | undefined {
  try {
    return sealer.open(payloadIdentity(receiptId, position), sealed);
  } catch {
    return undefined;
  }
}
