import { crc32 } from 'node:zlib';
import { DAY } from '#shared/clock.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { refuse } from '#shared/errors.ts';
import { base62OfUint32, randomBase62 } from '#shared/ids.ts';
import type { Key, KeyId } from '../consumers/consumer.ts';

// tpk_<12 key id>_<32 secret><6 checksum>: `_` is the only separator, so that a double click
// selects all of it. The checksum lets a typing mistake be refused without asking the store.
const PREFIX = 'tpk_';
const KEY_ID_CHARACTERS = 12;
const SECRET_CHARACTERS = 32; // 190 bits
const CHECKSUM_CHARACTERS = 6;
const CHECKED_CHARACTERS = PREFIX.length + KEY_ID_CHARACTERS + 1 + SECRET_CHARACTERS;
/** A key has exactly this many. */
export const KEY_CHARACTERS = CHECKED_CHARACTERS + CHECKSUM_CHARACTERS;
const KEY = /^tpk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/;

/** A key that was just made. `key` is the only place where its secret ever is. */
export type NewKey = { key: Secret; keyId: KeyId; digest: Buffer; last4: string };

/** `random` makes so many base62 characters; an argument so that tests can fix them. */
export function createApiKey(random: (length: number) => string = randomBase62): NewKey {
  const keyId = random(KEY_ID_CHARACTERS) as KeyId;
  const checked = `${PREFIX}${keyId}_${random(SECRET_CHARACTERS)}`;
  const text = checked + checksumOf(checked);
  // A plain hash suffices: the secret has 190 random bits.
  return { key: new Secret(text), keyId, digest: sha256(text), last4: text.slice(-4) };
}

/**
 * The key id of a text that has the form of a key and the right checksum, else undefined. Says
 * nothing about whether such a key exists.
 */
export function keyIdOf(text: string): KeyId | undefined {
  if (!KEY.test(text)) return undefined;
  const checksum = checksumOf(text.slice(0, CHECKED_CHARACTERS));
  if (text.slice(-CHECKSUM_CHARACTERS) !== checksum) return undefined;
  return text.slice(PREFIX.length, PREFIX.length + KEY_ID_CHARACTERS) as KeyId;
}

/** CRC-32 of all before it, as 6 base62 digits. */
function checksumOf(checked: string): string {
  return base62OfUint32(crc32(checked));
}

/** Milliseconds that a key can live. */
export const LIFETIME_MS_MAX = 3650 * DAY;

/** A key as it is stored, and the text that its consumer gets to see once. */
export type IssuedKey = { stored: Key; key: Secret };

/** Makes a key. @throws {validation-failed} `lifetimeMs` is out of range */
export function issueKey({
  now,
  createdBy,
  lifetimeMs,
}: {
  now: number;
  /** Subject of the actor. */
  createdBy: string;
  /** Milliseconds until it expires, at most 10 years; default: never. */
  lifetimeMs?: number;
}): IssuedKey {
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= LIFETIME_MS_MAX))
    refuse([
      {
        pointer: '#/expires',
        code: 'out-of-range',
        detail: 'A key expires after more than 0 and at most 3650 days.',
      },
    ]);
  const { key, ...rest } = createApiKey();
  const expiry = { ...(lifetimeMs !== undefined && { expiresAt: now + lifetimeMs }) };
  return { key, stored: { ...rest, createdBy, createdAt: now, ...expiry } };
}
