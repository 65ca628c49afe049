import { DAY, HOUR } from '#shared/clock.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { ToStoredRun } from '#shared/idempotency.ts';
import {
  type Consumer,
  type ConsumerId,
  type Key,
  type KeyId,
  keyStateAt,
} from '../consumers/consumer.ts';
import type { ConsumerChange } from '../consumer-store.ts';
import {
  auditOf,
  type ManageDeps,
  type Origin,
  refuseRevoked,
} from '../consumers/consumer-change.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';

const OVERLAP_MS_DEFAULT = 24 * HOUR;
/** Milliseconds that a key can stay good after its rotation. */
export const OVERLAP_MS_MAX = 30 * DAY;
const ACTIVE_KEYS_MAX = 20;

/** A consumer after a change, with the key that the change made. */
export type ConsumerWithKey = { consumer: Consumer; issued: IssuedKey };

/** The change that makes a key, with the response for the caller's idempotency key. */
export function changeWithKey(
  change: ConsumerChange,
  issued: IssuedKey,
  toStoredRun: ToStoredRun<ConsumerWithKey> | undefined,
): ConsumerChange {
  return {
    ...change,
    ...(toStoredRun && { storedRun: toStoredRun({ consumer: change.consumer, issued }) }),
  };
}

/**
 * One more key for a consumer, at most 20 active ones.
 * @throws {not-found} @throws {validation-failed} @throws {invalid-lifecycle-transition}
 */
export async function addKey(
  deps: ManageDeps,
  { id, expiresInMs }: { id: string; expiresInMs?: number },
  origin: Origin,
  toStoredRun?: ToStoredRun<ConsumerWithKey>,
): Promise<ConsumerWithKey> {
  const now = deps.clock.now();
  const createdBy = origin.actor.subject;
  const issued = issueKey(deps, { now, createdBy, lifetimeMs: expiresInMs });
  const { keyId, expiresAt } = issued.stored;
  const consumer = await deps.store.change(id as ConsumerId, (before) => {
    refuseRevoked(before);
    refuseTooManyKeys(before, now);
    const facts = { at: now, action: 'key.create', changes: { keyId, expiresAt } } as const;
    const change = {
      consumer: { ...before, keys: [...before.keys, issued.stored] },
      audit: auditOf(before, origin, facts),
    };
    return changeWithKey(change, issued, toStoredRun);
  });
  return { consumer, issued };
}

export type RotateInput = {
  id: string;
  /** Default: the consumer's only key that can be rotated. */
  keyId?: string;
  /** Milliseconds for which the old key stays good, 0 to 30 days, default 24 hours. */
  overlapMs?: number;
};

/**
 * A successor for a key; the old one expires after the overlap, never later than it would have.
 * The successor lives as long as the key was made to live.
 * @throws {not-found} no such consumer or key @throws {validation-failed}
 * @throws {invalid-lifecycle-transition} the key is expired or revoked, or has an active successor
 */
export async function rotateKey(
  deps: ManageDeps,
  input: RotateInput,
  origin: Origin,
  toStoredRun?: ToStoredRun<ConsumerWithKey>,
): Promise<ConsumerWithKey> {
  const overlapMs = parseOverlap(input.overlapMs);
  const now = deps.clock.now();
  let made: IssuedKey | undefined;
  const consumer = await deps.store.change(input.id as ConsumerId, (before) => {
    refuseRevoked(before);
    refuseTooManyKeys(before, now);
    const old = input.keyId === undefined ? onlyRotatable(before, now) : keyOf(before, input.keyId);
    refuseUnrotatable(before, old, now);
    const lifetimeMs = lifetimeOf(before, old);
    const issued = issueKey(deps, { now, createdBy: origin.actor.subject, lifetimeMs });
    made = issued;
    const expiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs);
    const replaced: Key = { ...old, expiresAt, replacedBy: issued.stored.keyId };
    const changes = { keyId: old.keyId, replacedBy: issued.stored.keyId, expiresAt };
    const change = {
      consumer: { ...before, keys: [...withKey(before.keys, replaced), issued.stored] },
      audit: auditOf(before, origin, { at: now, action: 'key.rotate', changes }),
    };
    return changeWithKey(change, issued, toStoredRun);
  });
  if (!made) throw new Error('the store did not ask for a decision');
  return { consumer, issued: made };
}

/** Revokes one key, at once and for good. Repeating it changes nothing. @throws {not-found} */
export function revokeKey(
  deps: ManageDeps,
  { id, keyId }: { id: string; keyId: string },
  origin: Origin,
): Promise<Consumer> {
  return deps.store.change(id as ConsumerId, (before) => {
    const key = keyOf(before, keyId);
    if (key.revokedAt !== undefined) return undefined;
    const at = deps.clock.now();
    return {
      consumer: { ...before, keys: withKey(before.keys, { ...key, revokedAt: at }) },
      audit: auditOf(before, origin, { at, action: 'key.revoke', changes: { keyId } }),
    };
  });
}

function parseOverlap(overlapMs: number = OVERLAP_MS_DEFAULT): number {
  if (!(overlapMs >= 0 && overlapMs <= OVERLAP_MS_MAX))
    refuse([
      { pointer: '#/overlap', code: 'out-of-range', detail: 'The overlap is 0 to 30 days.' },
    ]);
  return overlapMs;
}

function withKey(keys: readonly Key[], changed: Key): Key[] {
  return keys.map((key) => (key.keyId === changed.keyId ? changed : key));
}

function keyOf(consumer: Consumer, keyId: string): Key {
  const key = consumer.keys.find((candidate) => candidate.keyId === keyId);
  if (!key)
    throw new TrackportError('not-found', { detail: 'This consumer has no key with this id.' });
  return key;
}

function isActive(key: Key | undefined, now: number): key is Key {
  return key !== undefined && keyStateAt(key, now) === 'active';
}

/** A successor that was revoked or has expired does not count: the key needs another one. */
function activeSuccessor(consumer: Consumer, key: Key, now: number): KeyId | undefined {
  const successor = consumer.keys.find(({ keyId }) => keyId === key.replacedBy);
  return isActive(successor, now) ? successor.keyId : undefined;
}

function onlyRotatable(consumer: Consumer, now: number): Key {
  const [key, ...more] = consumer.keys.filter(
    (candidate) => isActive(candidate, now) && !activeSuccessor(consumer, candidate, now),
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

/** A key in an overlap has lost its own expiry; its last successor inherited the lifetime. */
function lifetimeOf(consumer: Consumer, key: Key): number | undefined {
  const heir = consumer.keys.find(({ keyId }) => keyId === key.replacedBy) ?? key;
  return heir.expiresAt === undefined ? undefined : heir.expiresAt - heir.createdAt;
}

function refuseTooManyKeys(consumer: Consumer, now: number): void {
  const active = consumer.keys.filter((key) => isActive(key, now));
  if (active.length < ACTIVE_KEYS_MAX) return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `A consumer has at most ${ACTIVE_KEYS_MAX} active keys. Revoke one first.`,
    extensions: { current: consumer.state, allowed: [] },
  });
}
