import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  foldConsumerName,
  type Key,
  type KeyId,
  refuseNamesake,
} from '#access/consumers/consumer.ts';
import type {
  ConsumerChange,
  ConsumerPosition,
  ConsumerStore,
  KeyLookup,
} from '#access/consumer-store.ts';
import type { Grant } from '#access/grants/grant.ts';
import type { Clock } from '#shared/clock.ts';
import { createAuditLog } from '../audit-log.ts';
import {
  CONSUMER_COLUMNS,
  type ConsumerRow,
  type GrantRow,
  KEY_COLUMNS,
  type KeyRow,
  toConsumer,
  toConsumerRow,
  toGrant,
  toGrantRow,
  toKey,
  toKeyRow,
} from './rows.ts';
import type { Database } from '../database.ts';
import { guard } from '../errors.ts';
import { createKeyWriter } from '../idempotency-store.ts';

/** How old the version may be: how late a change by another process is noticed. */
const VERSION_MAX_AGE_MS = 10;

export type ConsumerStoreDeps = { database: Database; clock: Pick<Clock, 'monotonicMs'> };

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements({ handle }: Database) {
  return {
    version: handle.prepare<[], number>('SELECT version FROM access_version').pluck(),
    otherNames: handle.prepare<[string], Pick<ConsumerRow, 'id' | 'name'>>(
      "SELECT id, name FROM consumer WHERE id <> ? AND state <> 'revoked' ORDER BY createdAt, id",
    ),
    moveVersion: handle.prepare('UPDATE access_version SET version = version + 1'),
    consumer: handle.prepare<[string], ConsumerRow>(
      `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = ?`,
    ),
    consumersAfter: handle.prepare<[ConsumerPosition & { rows: number }], ConsumerRow>(`
      SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE (createdAt, id) > (@createdAt, @id)
      ORDER BY createdAt, id LIMIT @rows`),
    putConsumer: handle.prepare<[ConsumerRow]>(`
      INSERT INTO consumer (${CONSUMER_COLUMNS})
      VALUES (@id, @name, @state, @limitPerMinute, @createdAt)
      ON CONFLICT (id) DO UPDATE SET
        name = excluded.name, state = excluded.state, limitPerMinute = excluded.limitPerMinute`),
    grantsOf: handle.prepare<[string], GrantRow>(
      'SELECT consumerId, action, labels FROM consumer_grant WHERE consumerId = ? ORDER BY action',
    ),
    removeGrants: handle.prepare<[string]>('DELETE FROM consumer_grant WHERE consumerId = ?'),
    insertGrant: handle.prepare<[GrantRow]>(
      'INSERT INTO consumer_grant (consumerId, action, labels) VALUES (@consumerId, @action, @labels)',
    ),
    key: handle.prepare<[string], KeyRow>(`SELECT ${KEY_COLUMNS} FROM api_key WHERE keyId = ?`),
    keysOf: handle.prepare<[string], KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM api_key WHERE consumerId = ? ORDER BY createdAt, rowid`,
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

/** The consumers of a SQLite database. */
export function createConsumerStore({ database, clock }: ConsumerStoreDeps): ConsumerStore {
  const sql = prepareStatements(database);
  const audit = createAuditLog(database);
  const storeRun = createKeyWriter(database);
  const versions = createVersionSampler(sql, clock);

  const write = ({ consumer, audit: entry, storedRun, hasUniqueName }: ConsumerChange): void => {
    if (hasUniqueName === true) requireUniqueName(sql, consumer);
    sql.putConsumer.run(toConsumerRow(consumer));
    sql.removeGrants.run(consumer.id);
    for (const grant of consumer.grants) sql.insertGrant.run(toGrantRow(consumer.id, grant));
    for (const key of consumer.keys) sql.putKey.run(toKeyRow(consumer.id, key));
    sql.moveVersion.run();
    audit.append(entry);
    if (storedRun) storeRun(storedRun);
  };
  const readOrFail = (id: ConsumerId): Consumer => readConsumer(sql, id) ?? consumerNotFound();

  return {
    version: versions.read,
    findKey: async (keyId) => guard(() => readKey(sql, keyId)),
    find: async (id) => guard(() => readConsumer(sql, id)),
    list: async (page) => guard(() => readPage(sql, page)),
    insert: async (change) => {
      database.transaction(() => write(change));
      versions.expire();
    },
    change: async (id, decide) => {
      const consumer = database.transaction(() => {
        const change = decide(readOrFail(id));
        if (change) write(change);
        return readOrFail(id);
      });
      versions.expire();
      return consumer;
    },
    recordUses: async (uses) =>
      database.transaction(() => {
        for (const [keyId, at] of uses) sql.recordUse.run({ keyId, at });
      }),
  };
}

/** Reads the version at most once in 10 ms, and always after a change made here. */
function createVersionSampler(sql: Statements, clock: Pick<Clock, 'monotonicMs'>) {
  let version = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    read: (): number => {
      const now = clock.monotonicMs();
      if (now - readAt >= VERSION_MAX_AGE_MS) {
        version = guard(() => sql.version.get()) ?? 0;
        readAt = now;
      }
      return version;
    },
    expire: (): void => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Folded here: SQLite knows the case of ASCII letters alone. */
function requireUniqueName(sql: Statements, { id, name }: Pick<Consumer, 'id' | 'name'>): void {
  const folded = foldConsumerName(name);
  for (const other of sql.otherNames.iterate(id))
    if (foldConsumerName(other.name) === folded) refuseNamesake(other.id);
}

function readKey(sql: Statements, keyId: KeyId): KeyLookup | undefined {
  const row = sql.key.get(keyId);
  const consumer = row && sql.consumer.get(row.consumerId);
  if (!consumer) return undefined;
  const { id, name, state, limitPerMinute } = consumer;
  return {
    key: toKey(row),
    consumer: {
      id,
      name,
      state,
      ...(limitPerMinute !== null && { limitPerMinute }),
      grants: grantsOf(sql, id),
    },
  };
}

function readConsumer(sql: Statements, id: ConsumerId): Consumer | undefined {
  const row = sql.consumer.get(id);
  return row && withGrantsAndKeys(sql, row);
}

function readPage(
  sql: Statements,
  { limit, after }: { limit: number; after?: ConsumerPosition },
): { items: Consumer[]; hasMore: boolean } {
  const { createdAt, id } = after ?? { createdAt: Number.MIN_SAFE_INTEGER, id: '' as ConsumerId };
  // One row more than requested shows whether there are more.
  const rows = sql.consumersAfter.all({ createdAt, id, rows: limit + 1 });
  const items = rows.slice(0, limit).map((row) => withGrantsAndKeys(sql, row));
  return { items, hasMore: rows.length > limit };
}

function withGrantsAndKeys(sql: Statements, row: ConsumerRow): Consumer {
  return toConsumer(row, grantsOf(sql, row.id), keysOf(sql, row.id));
}

function grantsOf(sql: Statements, id: ConsumerId): Grant[] {
  return sql.grantsOf.all(id).map(toGrant);
}

function keysOf(sql: Statements, id: ConsumerId): Key[] {
  return sql.keysOf.all(id).map(toKey);
}
