import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** As many are drawn from the generator at once: a call costs more than its bytes do. */
const NONCES_DRAWN = 128;

/** Encrypts what the store holds for us and nobody else is to read. */
export type Sealer = {
  /** `identity` is authenticated but not stored: what was sealed for one thing opens for no other. */
  seal(identity: string, bytes: Buffer): Buffer;
  /** The bytes again. @throws {Error} when key or identity differ, or the bytes were altered */
  open(identity: string, sealed: Buffer): Buffer;
};

/** AES-256-GCM with a random nonce (NIST SP 800-38D): nonce, tag, ciphertext. */
export function createSealer(key: KeyObject): Sealer {
  const newNonce = createNonces();
  return {
    seal: (identity, bytes) => {
      const nonce = newNonce();
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

/** Random nonces, each handed out once. */
function createNonces(): () => Buffer {
  let drawn = Buffer.alloc(0);
  return () => {
    if (drawn.length === 0) drawn = randomBytes(NONCE_BYTES * NONCES_DRAWN);
    const nonce = drawn.subarray(0, NONCE_BYTES);
    drawn = drawn.subarray(NONCE_BYTES);
    return nonce;
  };
}
