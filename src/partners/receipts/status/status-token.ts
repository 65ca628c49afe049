import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import { type Clock, DAY } from '#shared/clock.ts';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import type { Receipt } from '../receipt.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const INSTANT_BYTES = 6;
/** Longer than any token of ours. */
const TOKEN_CHARACTERS_MAX = 256;
const LIFETIME_MS = 30 * DAY;

/** Seals receipts into tokens that nobody can guess, and that need no credential beside them. */
export type StatusTokens = {
  /** Always the same for one receipt. */
  seal(receipt: Pick<Receipt, 'id' | 'receivedAt'>): string;
  /** The receipt's id; undefined for a token that was altered, or 30 days after the receipt. */
  open(token: string): string | undefined;
};

/**
 * AES-256-GCM over the receipt's instant and id. The nonce is a MAC of both, as in RFC 8452, so that a
 * receipt has one token, and no two receipts have one nonce. `key` is a sub-key of 32 bytes.
 */
export function createStatusTokens(key: Buffer, clock: Pick<Clock, 'now'>): StatusTokens {
  const sealKey = createSecretKey(hmacSha256(key, 'seal'));
  const nonceKey = createSecretKey(hmacSha256(key, 'nonce'));
  return {
    seal: ({ id, receivedAt }) => {
      const plain = Buffer.concat([toBytes(receivedAt), Buffer.from(id)]);
      const nonce = hmacSha256(nonceKey, plain).subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce);
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open: (token) => {
      const plain = decrypt(sealKey, token);
      if (plain === undefined) return undefined;
      const receivedAt = plain.readUIntBE(0, INSTANT_BYTES);
      if (clock.now() >= receivedAt + LIFETIME_MS) return undefined;
      return plain.subarray(INSTANT_BYTES).toString();
    },
  };
}

function toBytes(instant: number): Buffer {
  const bytes = Buffer.alloc(INSTANT_BYTES);
  bytes.writeUIntBE(instant, 0, INSTANT_BYTES);
  return bytes;
}

function decrypt(key: ReturnType<typeof createSecretKey>, token: string): Buffer | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const head = NONCE_BYTES + TAG_BYTES;
  // Base64 has several spellings of the same bytes; a token has one.
  if (bytes.toString('base64url') !== token || bytes.length <= head + INSTANT_BYTES)
    return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(NONCE_BYTES, head));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]);
  } catch {
    return undefined;
  }
}
