import { toRfc3339 } from '#shared/clock.ts';
import { type Consumer, type Key, type KeyState, keyStateAt } from './consumer.ts';
import type { Grant } from '../grants/grant.ts';
import type { ConsumerWithKey } from '../keys/manage-keys.ts';

/** A key as the command line and the admin API show it: never its secret or digest. */
export type KeyOut = {
  keyId: string;
  last4: string;
  state: KeyState;
  createdBy: string;
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  replacedBy?: string;
  lastUsedAt?: string;
};

/** A consumer as the command line and the admin API show it. */
export type ConsumerOut = {
  id: string;
  name: string;
  state: Consumer['state'];
  limitPerMinute?: number;
  grants: readonly Grant[];
  keys: KeyOut[];
  createdAt: string;
};

/** The answer to creating a consumer, the only one with its key in plain text. */
export type CreatedConsumerOut = {
  id: string;
  name: string;
  grants: readonly Grant[];
  key: string;
};

/** `now` decides which keys are expired. */
export function toConsumerOut(consumer: Consumer, now: number): ConsumerOut {
  const { id, name, state, limitPerMinute, grants, keys, createdAt } = consumer;
  return {
    id,
    name,
    state,
    ...(limitPerMinute === undefined ? {} : { limitPerMinute }),
    grants,
    keys: keys.map((key) => toKeyOut(key, now)),
    createdAt: toRfc3339(createdAt),
  };
}

function toKeyOut(key: Key, now: number): KeyOut {
  return {
    keyId: key.keyId,
    last4: key.last4,
    state: keyStateAt(key, now),
    createdBy: key.createdBy,
    createdAt: toRfc3339(key.createdAt),
    ...(key.expiresAt === undefined ? {} : { expiresAt: toRfc3339(key.expiresAt) }),
    ...(key.revokedAt === undefined ? {} : { revokedAt: toRfc3339(key.revokedAt) }),
    ...(key.replacedBy === undefined ? {} : { replacedBy: key.replacedBy }),
    ...(key.lastUsedAt === undefined ? {} : { lastUsedAt: toRfc3339(key.lastUsedAt) }),
  };
}

/** Shows the new key's secret. */
export function toCreatedConsumerOut({ consumer, issued }: ConsumerWithKey): CreatedConsumerOut {
  const { id, name, grants } = consumer;
  return { id, name, grants, key: issued.key.reveal() };
}
