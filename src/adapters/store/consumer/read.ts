import type { Consumer, ConsumerId } from '#access/consumers/consumer.ts';
import type { Session } from '../session.ts';
import {
  CONSUMER,
  type ConsumerRow,
  type GrantRow,
  KEY_COLUMNS,
  type KeyRow,
  toGrant,
  toKey,
} from './rows.ts';

export const GRANTS_OF = `
  SELECT consumer_id, action, labels, workspace FROM consumer_grant
  WHERE consumer_id = ANY(@ids) ORDER BY action`;

const KEYS_OF = `
  SELECT ${KEY_COLUMNS} FROM api_key
  WHERE consumer_id = ANY(@ids) ORDER BY created_at, serial`;

export async function findConsumer(
  session: Session,
  id: ConsumerId,
): Promise<Consumer | undefined> {
  const row = await session.get<ConsumerRow>(CONSUMER, { id });
  return row && (await withGrantsAndKeys(session, [row]))[0];
}

export async function withGrantsAndKeys(
  session: Session,
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
