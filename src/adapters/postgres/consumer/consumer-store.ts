import { consumerNotFound, foldConsumerName, refuseNamesake } from '#access/consumers/consumer.ts';
import type { Consumer, ConsumerId, KeyId } from '#access/consumers/consumer.ts';
import type {
  ConsumerChange,
  ConsumerPosition,
  ConsumerStore,
  KeyLookup,
} from '#access/consumer-store.ts';
import type { Clock } from '#shared/clock.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { appendAudit } from '../../store/audit-log.ts';
import { putRun } from '../../store/idempotency-store.ts';
import { toConsumer, toConsumerRow, toGrant, toGrantRow, toKey, toKeyRow } from './rows.ts';
import type { ConsumerRow, GrantRow, KeyRow } from './rows.ts';
import * as sql from './statements.ts';
import { createVersionSampler } from './version.ts';
import type { Database, Session } from '../connection/database.ts';

export type ConsumerStoreDeps = { database: Database; clock: Pick<Clock, 'now'> };

/** The consumers of a PostgreSQL database. */
export function createConsumerStore({ database, clock }: ConsumerStoreDeps): ConsumerStore {
  const versions = createVersionSampler(database, clock);

  const write = async (session: Session, change: ConsumerChange): Promise<void> => {
    await putConsumer(session, change);
    if (change.storedRun) await putRun(session, change.storedRun);
  };
  return {
    version: () => versions.read(),
    findKey: (keyId) => readKey(database, keyId),
    find: async (id) => readConsumer(database, id),
    list: (page) => readPage(database, page),
    insert: async (change) => {
      await database.transaction(async (session) => {
        await session.get(sql.LOCK);
        await write(session, change);
      });
      versions.expire();
    },
    change: async (id, decide) => {
      const { consumer, isChanged } = await database.transaction(async (session) => {
        await session.get(sql.LOCK);
        const change = decide(await readOrFail(session, id));
        if (change) await write(session, change);
        return { consumer: await readOrFail(session, id), isChanged: change !== undefined };
      });
      if (isChanged) versions.expire();
      return consumer;
    },
    recordUses: async (uses) => {
      const values = { keyIds: [...uses.keys()], ats: [...uses.values()] };
      await database.run(sql.RECORD_USES, values);
    },
  };
}

async function putConsumer(
  session: Session,
  { consumer, audit, hasUniqueName }: ConsumerChange,
): Promise<void> {
  if (hasUniqueName === true) await requireUniqueName(session, consumer);
  await session.run(sql.PUT_CONSUMER, toConsumerRow(consumer));
  await session.run(sql.REMOVE_GRANTS, { id: consumer.id });
  for (const grant of consumer.grants)
    await session.run(sql.INSERT_GRANT, toGrantRow(consumer.id, grant));
  for (const key of consumer.keys) await session.run(sql.PUT_KEY, toKeyRow(consumer.id, key));
  await session.run(sql.MOVE_VERSION);
  await appendAudit(session, audit);
}

/** Folded here, so that it means the same on every store. */
async function requireUniqueName(
  session: Session,
  { id, name }: Pick<Consumer, 'id' | 'name'>,
): Promise<void> {
  const folded = foldConsumerName(name);
  const others = await session.all<Pick<ConsumerRow, 'id' | 'name'>>(sql.OTHER_NAMES, { id });
  const namesake = others.find((other) => foldConsumerName(other.name) === folded);
  if (namesake) refuseNamesake(namesake.id);
}

async function readKey(session: Session, keyId: KeyId): Promise<KeyLookup | undefined> {
  const row = await session.get<KeyRow>(sql.KEY, { keyId });
  const consumer = row && (await readConsumer(session, row.consumerId));
  if (!consumer) return undefined;
  const { keys: _keys, createdAt: _createdAt, ...rest } = consumer;
  return { key: toKey(row), consumer: rest };
}

async function readOrFail(session: Session, id: ConsumerId): Promise<Consumer> {
  return (await readConsumer(session, id)) ?? consumerNotFound();
}

async function readConsumer(session: Session, id: ConsumerId): Promise<Consumer | undefined> {
  const row = await session.get<ConsumerRow>(sql.CONSUMER, { id });
  return row && (await withGrantsAndKeys(session, [row]))[0];
}

async function readPage(
  session: Session,
  { limit, after }: { limit: number; after?: ConsumerPosition },
): Promise<{ items: Consumer[]; hasMore: boolean }> {
  const { createdAt, id } = after ?? { createdAt: Number.MIN_SAFE_INTEGER, id: '' };
  const values = { createdAt, id, rows: limit + 1 };
  const rows = await session.all<ConsumerRow>(sql.CONSUMERS_AFTER, values);
  const { items, last } = cutPage(rows, limit);
  return { items: await withGrantsAndKeys(session, items), hasMore: last !== undefined };
}

async function withGrantsAndKeys(session: Session, rows: ConsumerRow[]): Promise<Consumer[]> {
  const ids = rows.map(({ id }) => id);
  const grants = await session.all<GrantRow>(sql.GRANTS_OF, { ids });
  const keys = await session.all<KeyRow>(sql.KEYS_OF, { ids });
  const grantsOf = Map.groupBy(grants, ({ consumerId }) => consumerId);
  const keysOf = Map.groupBy(keys, ({ consumerId }) => consumerId);
  return rows.map((row) =>
    toConsumer(
      row,
      (grantsOf.get(row.id) ?? []).map(toGrant),
      (keysOf.get(row.id) ?? []).map(toKey),
    ),
  );
}
