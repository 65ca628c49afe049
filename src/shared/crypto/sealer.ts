import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts what the store holds for us and nobody else is to read. */
export type Sealer = {
  /** `identity` is authenticated but not stored: what was sealed for one thing opens for no other. */
  seal(identity: string, bytes: Buffer): Buffer;
  /** The bytes again. @throws {Error} when key or identity differ, or the bytes were altered */
  open(identity: string, sealed: Buffer): Buffer;
};

/** AES-256-GCM with a random nonce (NIST SP 800-38D): nonce, tag, ciphertext. */
export function createSealer(keyBytes: Buffer): Sealer {
  const key = createSecretKey(keyBytes); // made once: a Buffer costs a key schedule each time
  return {
    seal: (identity, bytes) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(identity));
      const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open: (identity, sealed) => {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(identity))
        .setAuthTag(tag);
      const body = sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]);
    },
  };
}
