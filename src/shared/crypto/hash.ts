import { createHmac, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Purposes of the sub-keys of `secretKey`. One purpose, one key: none can stand for another. */
type KeyPurpose =
  | 'certificates'
  | 'cursors'
  | 'directory'
  | 'forms'
  | 'payloads'
  | 'sessions'
  | 'status';

/** The 32-byte sub-key of `secretKey` for one purpose (HKDF-SHA256, RFC 5869). */
export function deriveKey(secretKey: Buffer, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), `trackport/${purpose}`, 32));
}

/** HMAC-SHA256 of `data`. A `KeyObject` that is reused makes it several times as fast as a `Buffer`. */
export function hmacSha256(key: Buffer | string | KeyObject, data: Buffer | string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

/** SHA-256 of `data` as raw bytes. */
export function sha256(data: Buffer | string): Buffer {
  return hash('sha256', data, 'buffer');
}

/** SHA-256 of `data` as 64 lower-case hexadecimal digits. */
export function sha256Hex(data: Buffer | string): string {
  return hash('sha256', data, 'hex');
}

/** Compares two digests of equal length without telling by time where they differ. */
export function sameDigest(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
