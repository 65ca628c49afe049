/** All of a body. Throws what `tooLong` makes where it has more than `bytesMax`. */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

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
