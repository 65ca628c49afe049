import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Grant } from '#access/grant.ts';
import type { Tx } from '#shared/database.ts';
import { toJson } from '#shared/sql.ts';

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

export const GRANTS_OF = `
  SELECT consumer_id, action, labels, workspace FROM consumer_grant
  WHERE consumer_id = ANY(@ids) ORDER BY action`;

const KEYS_OF = `
  SELECT ${KEY_COLUMNS} FROM api_key
  WHERE consumer_id = ANY(@ids) ORDER BY created_at, serial`;

export async function findConsumer(session: Tx, id: ConsumerId): Promise<Consumer | undefined> {
  const row = await session.get<ConsumerRow>(CONSUMER, { id });
  return row && (await withGrantsAndKeys(session, [row]))[0];
}

export async function withGrantsAndKeys(
  session: Tx,
  rows: readonly ConsumerRow[],
): Promise<Consumer[]> {
  const ids = rows.map(({ id }) => id);
  const grants = await session.all<GrantRow>(GRANTS_OF, { ids });
  const keys = await session.all<KeyRow>(KEYS_OF, { ids });
  const grantsOf = Map.groupBy(grants, ({ consumerId }) => consumerId);
  const keysOf = Map.groupBy(keys, ({ consumerId }) => consumerId);
  return rows.map((row) => ({
    ...row,
    grants: (grantsOf.get(row.id) ?? []).map(toGrant),
    keys: (keysOf.get(row.id) ?? []).map(toKey),
  }));
}
