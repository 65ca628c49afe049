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
