/** Keys of a consumer: their text, how one is made, and the rules of their rotation. */
import { crc32 } from 'node:zlib';
import { DAY, HOUR } from '#shared/clock.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { base62OfUint32, randomBase62 } from '#shared/ids.ts';
import {
  activeKeys,
  type Consumer,
  type Key,
  type KeyId,
  keyStateAt,
} from '../consumers/consumer.ts';

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

/** A consumer after a change, with the key that the change made. */
export type ConsumerWithKey = { consumer: Consumer; issued: IssuedKey };

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

const OVERLAP_MS_DEFAULT = 24 * HOUR;
/** Milliseconds that a key can stay good after its rotation. */
export const OVERLAP_MS_MAX = 30 * DAY;
/** A key's holder and operators are told of its end so long before. */
export const KEY_ENDS_SOON_MS = 30 * DAY;
const ACTIVE_KEYS_MAX = 20;

export type Rotation = {
  /** The key that gets a successor. */
  old: Key;
  /** End of the overlap, never later than it would have ended without a rotation. */
  oldExpiresAt: number;
  /** Lifetime of the successor: as long as the key was made to live. Undefined: for ever. */
  lifetimeMs: number | undefined;
};

/** True when a key's holder and operators are to be told that it ends. */
export function endsSoon({ expiresAt = Infinity }: { expiresAt?: number }, now: number): boolean {
  return expiresAt - now <= KEY_ENDS_SOON_MS;
}

/** 0 to 30 days, default 24 hours. @throws {validation-failed} */
export function parseOverlap(overlapMs: number = OVERLAP_MS_DEFAULT): number {
  if (!(overlapMs >= 0 && overlapMs <= OVERLAP_MS_MAX))
    refuse([
      { pointer: '#/overlap', code: 'out-of-range', detail: 'The overlap is 0 to 30 days.' },
    ]);
  return overlapMs;
}

/**
 * Chooses the key to rotate, and how long it and its successor live. Without `keyId` the consumer's only
 * key that can be rotated.
 * @throws {validation-failed} there are several of those
 * @throws {not-found} the consumer has no such key
 * @throws {invalid-lifecycle-transition} the key is expired or revoked, or has an active successor;
 * or there are too many keys
 */
export function planRotation(
  consumer: Consumer,
  { keyId, overlapMs }: { keyId?: string; overlapMs: number },
  now: number,
): Rotation {
  refuseTooManyKeys(consumer, now);
  const old = keyId === undefined ? onlyRotatable(consumer, now) : findKey(consumer, keyId);
  refuseUnrotatable(consumer, old, now);
  return {
    old,
    oldExpiresAt: Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs),
    lifetimeMs: lifetimeOf(consumer, old),
  };
}

/** @throws {invalid-lifecycle-transition} the consumer has as many active keys as it may have */
export function refuseTooManyKeys(consumer: Consumer, now: number): void {
  if (activeKeys(consumer, now).length < ACTIVE_KEYS_MAX) return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `A consumer has at most ${ACTIVE_KEYS_MAX} active keys. Revoke one first.`,
    extensions: { current: consumer.state, allowed: [] },
  });
}

/** @throws {not-found} the consumer has no such key */
export function findKey(consumer: Consumer, keyId: string): Key {
  const key = consumer.keys.find((candidate) => candidate.keyId === keyId);
  if (!key)
    throw new TrackportError('not-found', { detail: 'This consumer has no key with this id.' });
  return key;
}

/** A successor that was revoked or has expired does not count: the key needs another one. */
function activeSuccessor(consumer: Consumer, key: Key, now: number): KeyId | undefined {
  return activeKeys(consumer, now).find(({ keyId }) => keyId === key.replacedBy)?.keyId;
}

function onlyRotatable(consumer: Consumer, now: number): Key {
  const [key, ...more] = activeKeys(consumer, now).filter(
    (candidate) => !activeSuccessor(consumer, candidate, now),
  );
  if (!key)
    throw new TrackportError('invalid-lifecycle-transition', {
      detail: 'This consumer has no active key to rotate. Create a key instead.',
      extensions: { allowed: [] },
    });
  if (more.length > 0)
    refuse([
      {
        pointer: '#/keyId',
        code: 'ambiguous',
        detail: `Say which key to rotate: ${[key, ...more].map(({ keyId }) => keyId).join(', ')}.`,
      },
    ]);
  return key;
}

function refuseUnrotatable(consumer: Consumer, key: Key, now: number): void {
  const current = keyStateAt(key, now);
  const successor = activeSuccessor(consumer, key, now);
  if (current === 'active' && successor === undefined) return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail:
      current === 'active'
        ? `This key already has an active successor (${successor}). Rotate or revoke that one.`
        : `This key is ${current}. Create a key instead.`,
    extensions: { current: current === 'active' ? 'replaced' : current, allowed: [] },
  });
}

/** A rotation cuts a key's own expiry; the last of its successors inherited the lifetime whole. */
function lifetimeOf(consumer: Consumer, key: Key): number | undefined {
  const successor = consumer.keys.find(({ keyId }) => keyId === key.replacedBy);
  if (successor) return lifetimeOf(consumer, successor);
  return key.expiresAt === undefined ? undefined : key.expiresAt - key.createdAt;
}
