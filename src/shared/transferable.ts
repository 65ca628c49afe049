/**
 * The memory that another thread can take over with such bytes (a transfer list of `postMessage`): none
 * where they share it with others.
 */
export function transferablesOf({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/**
 * Gives the memory of such bytes back now, not at some later garbage collection. They are empty
 * afterwards. Nothing happens where they share it with others.
 */
export function releaseMemory(bytes: Uint8Array): void {
  for (const memory of transferablesOf(bytes)) memory.transferToFixedLength(0);
}
