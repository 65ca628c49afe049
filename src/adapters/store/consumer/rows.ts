import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Grant } from '#access/grants/grant.ts';
import { toJson } from '../session.ts';

export type ConsumerRow = Omit<Consumer, 'grants' | 'keys'>;

export type KeyRow = Omit<Key, 'digest'> & { consumerId: ConsumerId; sha256: Buffer };

export type GrantRow = { consumerId: ConsumerId; labels?: string } & Omit<Grant, 'labels'>;

/** The columns of `ConsumerRow`. */
export const CONSUMER_COLUMNS = 'id, name, state, limit_per_minute, created_at';

export const CONSUMER = `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = @id`;

/** The columns of `KeyRow`, of the table `api_key`. */
export const KEY_COLUMNS = `
  key_id, consumer_id, sha256, last4, created_by, created_at, expires_at, revoked_at, replaced_by,
  last_used_at`;

export function toKey({ sha256, consumerId: _consumerId, ...row }: KeyRow): Key {
  return { ...row, digest: sha256 };
}

export function toKeyRow(consumerId: ConsumerId, key: Key): KeyRow {
  const { digest: sha256, expiresAt, revokedAt, replacedBy, lastUsedAt, ...rest } = key;
  return { ...rest, consumerId, sha256, expiresAt, revokedAt, replacedBy, lastUsedAt };
}

export function toGrant({ consumerId: _consumerId, labels, ...row }: GrantRow): Grant {
  return labels === undefined ? row : { ...row, labels: JSON.parse(labels) as string[] };
}

export function toGrantRow(consumerId: ConsumerId, { action, labels, workspace }: Grant): GrantRow {
  return { consumerId, action, labels: toJson(labels), workspace };
}
