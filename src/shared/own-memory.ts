/** The memory of bytes that share it with nothing else: it can be handed over, or given back. */
export function ownMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/**
 * Gives the memory of such bytes back now, not at some later garbage collection. They are empty
 * afterwards.
 */
export function freeMemory(bytes: Uint8Array): void {
  for (const memory of ownMemory(bytes)) memory.transferToFixedLength(0);
}
