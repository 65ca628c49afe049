/** Rules for a consumer's keys and their rotation. */
import { DAY, HOUR } from '#shared/clock.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import {
  activeKeys,
  type Consumer,
  type Key,
  type KeyId,
  keyStateAt,
} from '../consumers/consumer.ts';

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
