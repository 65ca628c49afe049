import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Grant } from '#access/grants/grant.ts';
import { present, type RowOf } from '#shared/store/row.ts';

export type ConsumerRow = RowOf<Omit<Consumer, 'grants' | 'keys'>>;

export type KeyRow = RowOf<Omit<Key, 'digest'>> & { consumerId: ConsumerId; sha256: Buffer };

export type GrantRow = { consumerId: ConsumerId } & RowOf<Omit<Grant, 'labels'>> & {
    labels: string | null;
  };

/** The columns of `ConsumerRow`. */
export const CONSUMER_COLUMNS = 'id, name, state, limit_per_minute, created_at';

export const CONSUMER = `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = @id`;

/** The columns of `KeyRow`, of the table `api_key`. */
export const KEY_COLUMNS = `
  key_id, consumer_id, sha256, last4, created_by, created_at, expires_at, revoked_at, replaced_by,
  last_used_at`;

export function toConsumer(row: ConsumerRow, grants: Grant[], keys: Key[]): Consumer {
  return { ...(present(row) as Omit<Consumer, 'grants' | 'keys'>), grants, keys };
}

export function toConsumerRow(consumer: Consumer): ConsumerRow {
  const { id, name, state, limitPerMinute, createdAt } = consumer;
  return { id, name, state, limitPerMinute: limitPerMinute ?? null, createdAt };
}

export function toKey({ sha256, consumerId: _consumerId, ...row }: KeyRow): Key {
  return { ...(present(row) as Omit<Key, 'digest'>), digest: sha256 };
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
    labels: labels ? JSON.stringify(labels) : null,
    workspace: workspace ?? null,
  };
}
