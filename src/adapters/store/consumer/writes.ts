import { isDeepStrictEqual } from 'node:util';
import {
  type Consumer,
  consumerNotFound,
  foldConsumerName,
  type KeyId,
  refuseNamesake,
} from '#access/consumers/consumer.ts';
import type { ConsumerChange } from '#access/consumer-store.ts';
import { appendAudit } from '#shared/audit-log.ts';
import type { Tx } from '#shared/database.ts';
import { toRecords } from '#shared/sql.ts';
import {
  CONSUMER_COLUMNS,
  type ConsumerRow,
  findConsumer,
  KEY_COLUMNS,
  toGrantRow,
  toKeyRow,
} from './rows.ts';

/** Whoever changes a consumer takes turns with all others who do: names are unique among them. */
const LOCK = 'SELECT version FROM access_version FOR UPDATE';

const MOVE_VERSION = 'UPDATE access_version SET version = version + 1';

const OTHER_NAMES = `
  SELECT id, name FROM consumer WHERE id <> @id AND state <> 'revoked' ORDER BY created_at, id`;

const PUT_CONSUMER = `
  INSERT INTO consumer (${CONSUMER_COLUMNS})
  VALUES (@id, @name, @state, @limitPerMinute, @createdAt)
  ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, state = excluded.state, limit_per_minute = excluded.limit_per_minute`;

const REMOVE_GRANTS = 'DELETE FROM consumer_grant WHERE consumer_id = @id';

const INSERT_GRANT = `
  INSERT INTO consumer_grant (consumer_id, action, labels, workspace)
  VALUES (@consumerId, @action, @labels, @workspace)`;

/** What identifies a key never changes; last_used_at belongs to RECORD_USES. */
const PUT_KEY = `
  INSERT INTO api_key (${KEY_COLUMNS})
  VALUES (@keyId, @consumerId, @sha256, @last4, @createdBy, @createdAt, @expiresAt, @revokedAt,
    @replacedBy, @lastUsedAt)
  ON CONFLICT (key_id) DO UPDATE SET expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at, replaced_by = excluded.replaced_by`;

/** In the order of the ids, so that two instances never wait for each other. */
const RECORD_USES = `
  UPDATE api_key SET last_used_at = used.at
  FROM (
    SELECT key_id, given.at
    FROM jsonb_to_recordset(@uses) AS given (id text, at bigint) JOIN api_key ON key_id = given.id
    ORDER BY key_id FOR UPDATE OF api_key
  ) AS used
  WHERE api_key.key_id = used.key_id
    AND (api_key.last_used_at IS NULL OR api_key.last_used_at < used.at)`;

export const consumerWrites = {
  insert: async (session: Tx, change: ConsumerChange): Promise<void> => {
    await session.get(LOCK);
    await put(session, change);
  },
  /** Undefined, and nothing done, when the consumer is not any more as `before` says. */
  change: async (
    session: Tx,
    before: Consumer,
    change: ConsumerChange,
  ): Promise<Consumer | undefined> => {
    await session.get(LOCK);
    if (!isSame(await findConsumer(session, before.id), before)) return undefined;
    await put(session, change);
    return (await findConsumer(session, before.id)) ?? consumerNotFound();
  },
  recordUses: async (session: Tx, uses: readonly (readonly [KeyId, number])[]): Promise<void> => {
    await session.run(RECORD_USES, { uses: toRecords(uses.map(([id, at]) => ({ id, at }))) });
  },
};

async function put(session: Tx, { consumer, audit, hasUniqueName }: ConsumerChange): Promise<void> {
  if (hasUniqueName === true) await requireUniqueName(session, consumer);
  await session.run(PUT_CONSUMER, { ...consumer, limitPerMinute: consumer.limitPerMinute });
  await session.run(REMOVE_GRANTS, { id: consumer.id });
  for (const grant of consumer.grants)
    await session.run(INSERT_GRANT, toGrantRow(consumer.id, grant));
  for (const key of consumer.keys) await session.run(PUT_KEY, toKeyRow(consumer.id, key));
  await session.run(MOVE_VERSION);
  await appendAudit(session, audit);
}

/** Apart from when its keys were used, which no change is about. */
function isSame(left: Consumer | undefined, right: Consumer): boolean {
  return left !== undefined && isDeepStrictEqual(withoutUse(left), withoutUse(right));
}

function withoutUse({ keys, ...consumer }: Consumer): object {
  return { ...consumer, keys: keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key) };
}

/** Folded here, so that it means the same on every store. */
async function requireUniqueName(
  session: Tx,
  { id, name }: Pick<Consumer, 'id' | 'name'>,
): Promise<void> {
  const folded = foldConsumerName(name);
  const others = await session.all<Pick<ConsumerRow, 'id' | 'name'>>(OTHER_NAMES, { id });
  const namesake = others.find((other) => foldConsumerName(other.name) === folded);
  if (namesake) refuseNamesake(namesake.id);
}
