import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { releaseMemory } from '#shared/bytes.ts';

/**
 * Larger bodies get memory that the operating system hands out and takes back as a whole. That of
 * many chunks and their sum stays with the process for good, in pieces that fit nothing else.
 */
const PIECEMEAL_BYTES_MAX = 1024 * 1024;

/** A body as it comes. */
export type BodyBytes = {
  add(chunk: Buffer): void;
  /** All of it; once, at its end. Of a large body the memory is its own. */
  take(): Buffer;
  /** The body is not wanted any more. */
  drop(): void;
};

/** `bytesMax`: more are never added. */
export function createBodyBytes(payload: Readable, bytesMax: number): BodyBytes {
  // Chunks of Node's parser are copies that nobody else has.
  const mayFree = payload instanceof IncomingMessage;
  let chunks: Buffer[] = [];
  let length = 0;
  let memory: ArrayBuffer | undefined;
  const copy = (into: ArrayBuffer, chunk: Buffer): void => {
    const end = length + chunk.length;
    if (into.byteLength < end) into.resize(Math.min(bytesMax, Math.max(end, 2 * into.byteLength)));
    new Uint8Array(into).set(chunk, length);
    length = end;
    if (mayFree) releaseMemory(chunk);
  };
  const gather = (): ArrayBuffer => {
    const gathered = new ArrayBuffer(0, { maxByteLength: bytesMax });
    length = 0;
    for (const chunk of chunks) copy(gathered, chunk);
    chunks = [];
    return gathered;
  };
  return {
    add: (chunk) => {
      if (!memory && length + chunk.length > PIECEMEAL_BYTES_MAX) memory = gather();
      if (memory) copy(memory, chunk);
      else {
        chunks.push(chunk);
        length += chunk.length;
      }
    },
    take: () => {
      memory?.resize(length);
      return memory ? Buffer.from(memory, 0, length) : Buffer.concat(chunks, length);
    },
    drop: () => {
      chunks = [];
      memory?.transferToFixedLength(0);
    },
  };
}
