import {
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  subtle,
  timingSafeEqual,
} from 'node:crypto';

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
export function deriveKey(secretKey: Buffer, purpose: KeyPurpose): KeyObject {
  const bytes = hkdfSync('sha256', secretKey, Buffer.alloc(0), `trackport/${purpose}`, 32);
  return createSecretKey(Buffer.from(bytes));
}

/** HMAC-SHA256 of `data`. With a key of bytes it takes five times as long. */
export function hmacSha256(key: KeyObject, data: Buffer | string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

/** SHA-256 of `data` as raw bytes. */
export function sha256(data: Buffer | string): Buffer {
  return hash('sha256', data, 'buffer');
}

/** SHA-256 of a long text in base64, by a thread of its own: it holds nobody up. */
export async function sha256Aside(text: string): Promise<string> {
  return Buffer.from(await subtle.digest('SHA-256', Buffer.from(text))).toString('base64');
}

/** SHA-256 of `data` as 64 lower-case hexadecimal digits. */
export function sha256Hex(data: Buffer | string): string {
  return hash('sha256', data, 'hex');
}

/** Compares two digests of equal length without telling by time where they differ. */
export function sameDigest(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
