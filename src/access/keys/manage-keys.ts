import type { Origin } from '#shared/audit.ts';
import { type Consumer, type Key, refuseRevoked } from '../consumers/consumer.ts';
import { auditEntryOf, changeConsumer, type AccessStore } from '../consumers/stored-consumers.ts';
import {
  type ConsumerWithKey,
  findKey,
  type IssuedKey,
  issueKey,
  parseOverlap,
  planRotation,
  refuseTooManyKeys,
} from './key-rules.ts';

/**
 * One more key for a consumer, at most 20 active ones.
 * @throws {not-found} @throws {validation-failed} @throws {invalid-lifecycle-transition}
 */
export async function addKey(
  accessStore: AccessStore,
  { id, expiresInMs }: { id: string; expiresInMs?: number },
  origin: Origin,
): Promise<ConsumerWithKey> {
  const now = accessStore.clock.now();
  const createdBy = origin.actor.subject;
  const issued = issueKey({ now, createdBy, lifetimeMs: expiresInMs });
  const { keyId, expiresAt } = issued.stored;
  const consumer = await changeConsumer(accessStore, id, (before) => {
    refuseRevoked(before);
    refuseTooManyKeys(before, now);
    const changes = { keyId, expiresAt };
    return {
      consumer: { ...before, keys: [...before.keys, issued.stored] },
      audit: auditEntryOf(before, origin, { at: now, action: 'key.create', changes }),
    };
  });
  return { consumer, issued };
}

type RotateInput = {
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
 * @throws {invalid-lifecycle-transition} the consumer is revoked; also as `planRotation` throws it
 */
export async function rotateKey(
  accessStore: AccessStore,
  { id, keyId, overlapMs }: RotateInput,
  origin: Origin,
): Promise<ConsumerWithKey> {
  const request = { keyId, overlapMs: parseOverlap(overlapMs) };
  const now = accessStore.clock.now();
  let made: IssuedKey | undefined;
  const consumer = await changeConsumer(accessStore, id, (before) => {
    refuseRevoked(before);
    const { old, oldExpiresAt: expiresAt, lifetimeMs } = planRotation(before, request, now);
    const issued = issueKey({ now, createdBy: origin.actor.subject, lifetimeMs });
    made = issued;
    const replaced: Key = { ...old, expiresAt, replacedBy: issued.stored.keyId };
    const changes = { keyId: old.keyId, replacedBy: issued.stored.keyId, expiresAt };
    return {
      consumer: { ...before, keys: [...withKey(before.keys, replaced), issued.stored] },
      audit: auditEntryOf(before, origin, { at: now, action: 'key.rotate', changes }),
    };
  });
  if (!made) throw new Error('the store did not call the decision');
  return { consumer, issued: made };
}

/** Revokes one key, at once and for good. Called again it changes nothing. @throws {not-found} */
export function revokeKey(
  accessStore: AccessStore,
  { id, keyId }: { id: string; keyId: string },
  origin: Origin,
): Promise<Consumer> {
  return changeConsumer(accessStore, id, (before) => {
    const key = findKey(before, keyId);
    if (key.revokedAt !== undefined) return undefined;
    const at = accessStore.clock.now();
    return {
      consumer: { ...before, keys: withKey(before.keys, { ...key, revokedAt: at }) },
      audit: auditEntryOf(before, origin, { at, action: 'key.revoke', changes: { keyId } }),
    };
  });
}

function withKey(keys: readonly Key[], changed: Key): Key[] {
  return keys.map((key) => (key.keyId === changed.keyId ? changed : key));
}
