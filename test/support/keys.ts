import { createSecretKey, type KeyObject } from 'node:crypto';

/** A sub-key of 32 bytes, all of which are `fill`. */
export function keyOf(fill: number): KeyObject {
  return createSecretKey(Buffer.alloc(32, fill));
}
