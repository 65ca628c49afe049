import { isDeepStrictEqual } from 'node:util';
import type { Database as Handle } from 'better-sqlite3';
import { consumerNotFound, foldConsumerName, refuseNamesake } from '#access/consumers/consumer.ts';
import type { Consumer, KeyId } from '#access/consumers/consumer.ts';
import type { ConsumerChange } from '#access/consumer-store.ts';
import { appendAudit } from '../../store/audit-log.ts';
import { putRun } from '../../store/idempotency-store.ts';
import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';
import { createConsumerReader } from './read.ts';
import { CONSUMER_COLUMNS, KEY_COLUMNS, toConsumerRow, toGrantRow, toKeyRow } from './rows.ts';
import type { ConsumerRow, GrantRow, KeyRow } from './rows.ts';

type ConsumerWrites = ReturnType<typeof createConsumerWrites>;

export const consumerWrites: WriteFamily<undefined, ConsumerWrites> = {
  name: 'consumer',
  create: createConsumerWrites,
};

function createConsumerWrites(connection: Connection) {
  const sql = prepare(connection.handle);
  const reader = createConsumerReader(connection.handle);
  const write = async (change: ConsumerChange): Promise<void> => {
    const { consumer, audit, storedRun, hasUniqueName } = change;
    if (hasUniqueName === true) requireUniqueName(sql, consumer);
    sql.putConsumer.run(toConsumerRow(consumer));
    sql.removeGrants.run(consumer.id);
    for (const grant of consumer.grants) sql.insertGrant.run(toGrantRow(consumer.id, grant));
    for (const key of consumer.keys) sql.putKey.run(toKeyRow(consumer.id, key));
    sql.moveVersion.run();
    await appendAudit(connection, audit);
    if (storedRun) await putRun(connection, storedRun);
  };
  return {
    insert: write,
    /** Undefined, and nothing done, when the consumer is not any more as `before` says. */
    change: async (before: Consumer, change: ConsumerChange): Promise<Consumer | undefined> => {
      if (!isSame(reader.find(before.id), before)) return undefined;
      await write(change);
      return reader.find(before.id) ?? consumerNotFound();
    },
    recordUses: (uses: ReadonlyMap<KeyId, number>): void => {
      for (const [keyId, at] of uses) sql.recordUse.run({ keyId, at });
    },
  };
}

/** Apart from when its keys were used, which no change is about. */
function isSame(left: Consumer | undefined, right: Consumer): boolean {
  return left !== undefined && isDeepStrictEqual(withoutUse(left), withoutUse(right));
}

function withoutUse({ keys, ...consumer }: Consumer): object {
  return { ...consumer, keys: keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key) };
}

type Statements = ReturnType<typeof prepare>;

function prepare(handle: Handle) {
  return {
    otherNames: handle.prepare<[string], Pick<ConsumerRow, 'id' | 'name'>>(
      "SELECT id, name FROM consumer WHERE id <> ? AND state <> 'revoked' ORDER BY createdAt, id",
    ),
    moveVersion: handle.prepare('UPDATE access_version SET version = version + 1'),
    putConsumer: handle.prepare<[ConsumerRow]>(`
      INSERT INTO consumer (${CONSUMER_COLUMNS})
      VALUES (@id, @name, @state, @limitPerMinute, @createdAt)
      ON CONFLICT (id) DO UPDATE SET
        name = excluded.name, state = excluded.state, limitPerMinute = excluded.limitPerMinute`),
    removeGrants: handle.prepare<[string]>('DELETE FROM consumer_grant WHERE consumerId = ?'),
    insertGrant: handle.prepare<[GrantRow]>(
      `INSERT INTO consumer_grant (consumerId, action, labels, workspace)
       VALUES (@consumerId, @action, @labels, @workspace)`,
    ),
    // What identifies a key never changes; lastUsedAt belongs to recordUse.
    putKey: handle.prepare<[KeyRow]>(`
      INSERT INTO api_key (${KEY_COLUMNS})
      VALUES (@keyId, @consumerId, @sha256, @last4, @createdBy, @createdAt, @expiresAt,
        @revokedAt, @replacedBy, @lastUsedAt)
      ON CONFLICT (keyId) DO UPDATE SET expiresAt = excluded.expiresAt,
        revokedAt = excluded.revokedAt, replacedBy = excluded.replacedBy`),
    recordUse: handle.prepare<[{ keyId: string; at: number }]>(`
      UPDATE api_key SET lastUsedAt = @at
      WHERE keyId = @keyId AND (lastUsedAt IS NULL OR lastUsedAt < @at)`),
  };
}

/** Folded here: SQLite knows the case of ASCII letters alone. */
function requireUniqueName(sql: Statements, { id, name }: Pick<Consumer, 'id' | 'name'>): void {
  const folded = foldConsumerName(name);
  for (const other of sql.otherNames.iterate(id))
    if (foldConsumerName(other.name) === folded) refuseNamesake(other.id);
}
