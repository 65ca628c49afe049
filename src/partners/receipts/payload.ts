import type { Sealer } from '#shared/crypto/sealer.ts';

type EventPlace = { receiptId: string; position: number };

/** Binds an event's payload to its place: elsewhere it cannot be opened. */
export function payloadIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}`;
}

/** The same of the digest of its bytes. */
export function digestIdentity(receiptId: string, position: number): string {
  return `${receiptId}/${position}/digest`;
}

/** The bytes of an event; undefined when they were sealed under another secret key. */
export function openPayload(
  sealer: Sealer,
  { receiptId, position }: EventPlace,
  sealed: Buffer,
): Buffer | undefined {
  return openOrUndefined(sealer, payloadIdentity(receiptId, position), sealed);
}

/** The digest of an event's bytes, likewise. */
export function openDigest(
  sealer: Pick<Sealer, 'open'>,
  { receiptId, position }: EventPlace,
  sealed: Buffer,
): Buffer | undefined {
  return openOrUndefined(sealer, digestIdentity(receiptId, position), sealed);
}

function openOrUndefined(
  sealer: Pick<Sealer, 'open'>,
  identity: string,
  sealed: Buffer,
): Buffer | undefined {
  try {
    return sealer.open(identity, sealed);
  } catch {
    return undefined;
  }
}
