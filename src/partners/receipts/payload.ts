import { createSealer, type Sealer } from '#shared/crypto/sealer.ts';

/** Encrypts the bytes of events until they are settled; see `payloadIdentity`. */
export type PayloadSealer = Sealer;

/** What an event's payload is bound to. */
export function payloadIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}`;
}

/** `key`: the sub-key for payloads, 32 bytes. */
export function createPayloadSealer(key: Buffer): PayloadSealer {
  return createSealer(key);
}

/** The bytes of an event; undefined when they were sealed under another secret key. */
export function openPayload(
  sealer: PayloadSealer,
  { receiptId, position }: { receiptId: string; position: number },
  sealed: Buffer,
): Buffer | undefined {
  try {
    return sealer.open(payloadIdentity(receiptId, position), sealed);
  } catch {
    return undefined;
  }
}
