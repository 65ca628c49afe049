import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Grant, GrantAction } from '#access/grants/grant.ts';
import type { RowOf } from '#shared/store/row.ts';

export type ConsumerRow = RowOf<Omit<Consumer, 'grants' | 'keys'>>;

export type KeyRow = RowOf<Omit<Key, 'digest'>> & { consumerId: ConsumerId; sha256: Buffer };

export type GrantRow = {
  consumerId: ConsumerId;
  action: GrantAction;
  labels: string | null;
  workspace: string | null;
};

/** The columns of `ConsumerRow`. */
export const CONSUMER_COLUMNS = 'id, name, state, limitPerMinute, createdAt';

/** The columns of `KeyRow`, of the table `api_key`. */
export const KEY_COLUMNS =
  'keyId, consumerId, sha256, last4, createdBy, createdAt, expiresAt, revokedAt, replacedBy, lastUsedAt';

export function toConsumer(
  { limitPerMinute, ...row }: ConsumerRow,
  grants: Grant[],
  keys: Key[],
): Consumer {
  return { ...row, ...(limitPerMinute !== null && { limitPerMinute }), grants, keys };
}

export function toConsumerRow(consumer: Consumer): ConsumerRow {
  const { id, name, state, limitPerMinute, createdAt } = consumer;
  return { id, name, state, limitPerMinute: limitPerMinute ?? null, createdAt };
}

export function toKey(row: KeyRow): Key {
  const { keyId, sha256, last4, createdBy, createdAt } = row;
  return {
    keyId,
    digest: sha256,
    last4,
    createdBy,
    createdAt,
    ...(row.expiresAt !== null && { expiresAt: row.expiresAt }),
    ...(row.revokedAt !== null && { revokedAt: row.revokedAt }),
    ...(row.replacedBy !== null && { replacedBy: row.replacedBy }),
    ...(row.lastUsedAt !== null && { lastUsedAt: row.lastUsedAt }),
  };
}

export function toKeyRow(consumerId: ConsumerId, key: Key): KeyRow {
  const { digest, expiresAt, revokedAt, replacedBy, lastUsedAt, ...rest } = key;
  return {
    ...rest,
    consumerId,
    sha256: digest,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
    replacedBy: replacedBy ?? null,
    lastUsedAt: lastUsedAt ?? null,
  };
}

export function toGrant({ action, labels, workspace }: GrantRow): Grant {
  return {
    action,
    ...(labels !== null && { labels: JSON.parse(labels) as string[] }),
    ...(workspace !== null && { workspace }),
  };
}

export function toGrantRow(consumerId: ConsumerId, { action, labels, workspace }: Grant): GrantRow {
  return {
    consumerId,
    action,
    labels: labels === undefined ? null : JSON.stringify(labels),
    workspace: workspace ?? null,
  };
}
