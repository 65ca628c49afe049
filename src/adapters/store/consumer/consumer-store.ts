import {
  type Consumer,
  type ConsumerId,
  consumerNotFound,
  type KeyId,
} from '#access/consumers/consumer.ts';
import type {
  ConsumerChange,
  ConsumerPosition,
  ConsumerStore,
  KeyLookup,
} from '#access/consumer-store.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { BUSY, type Tx, type Database, unavailable } from '#shared/database.ts';
import { bindWrites } from '../bind-writes.ts';
import {
  CONSUMER,
  CONSUMER_COLUMNS,
  type ConsumerRow,
  findConsumer,
  type GrantRow,
  GRANTS_OF,
  KEY_COLUMNS,
  type KeyRow,
  toGrant,
  toKey,
  withGrantsAndKeys,
} from './rows.ts';
import { consumerWrites } from './writes.ts';

const VERSION = 'SELECT version FROM access_version';

/** How old the version may be: how late a change by another instance is noticed. */
const VERSION_MAX_AGE_MS = SECOND;
/** It is read anew before that, so that a busy instance always knows it. */
const READ_EVERY_MS = VERSION_MAX_AGE_MS / 4;

export type VersionSampler = {
  /** Another number after a change, and whenever nobody can know whether there was one. */
  read(): number;
  /** Something was changed here. */
  expire(): void;
  /** Resolves when no read is under way. */
  settled(): Promise<void>;
};

/**
 * The version of consumers, keys and grants, without waiting for the store: it is read beside the
 * calls that ask for it. While what was read last is too old to be trusted (nobody asked for a while,
 * or the store is away), every call gets a number of its own, and so remembers nothing.
 */
export function createVersionSampler(
  session: Pick<Tx, 'get'>,
  clock: Pick<Clock, 'monotonicMs'>,
): VersionSampler {
  let version = 0;
  let seen: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    const row = await session.get<{ version: number }>(VERSION);
    if (row?.version !== seen) version += 1;
    seen = row?.version;
    readAt = startedAt;
  };
  const isWithin = (ageMs: number): boolean => clock.monotonicMs() - readAt < ageMs;
  return {
    read: () => {
      if (!isWithin(READ_EVERY_MS))
        reading ??= look()
          .catch(() => undefined) // the store is away: the next call tries again
          .finally(() => {
            reading = undefined;
          });
      if (!isWithin(VERSION_MAX_AGE_MS)) version += 1;
      return version;
    },
    expire: () => {
      version += 1;
    },
    settled: async () => reading,
  };
}

/** How often a change is decided anew because another process has just changed the consumer. */
const DECISIONS_MAX = 5;

export type ConsumerStoreDeps = { database: Database; clock: Pick<Clock, 'monotonicMs'> };

/** The consumers, whatever the engine. */
export function createConsumerStore({ database, clock }: ConsumerStoreDeps): ConsumerStore {
  const writes = bindWrites(database.transaction, consumerWrites);
  const versions = createVersionSampler(database, clock);
  let last: Promise<unknown> = Promise.resolve();

  /** Nobody can hold the consumer while it is decided: what was relied on is checked by the write. */
  const change = async (
    id: ConsumerId,
    decide: (consumer: Consumer) => ConsumerChange | undefined,
  ): Promise<Consumer> => {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const before = (await findConsumer(database, id)) ?? consumerNotFound();
      const decided = decide(before);
      if (!decided) return before;
      const after = await writes.change(before, decided);
      versions.expire();
      if (after) return after;
    }
    throw unavailable(BUSY);
  };
  return {
    version: () => versions.read(),
    findKey: (keyId) => readKey(database, keyId),
    find: (id) => findConsumer(database, id),
    list: (page) => readPage(database, page),
    insert: async (inserted) => {
      await writes.insert(inserted);
      versions.expire();
    },
    // One after the other, so that only another process comes between.
    change: (id, decide) => {
      const changed = last.then(() => change(id, decide));
      last = changed.catch(() => undefined);
      return changed;
    },
    recordUses: (uses) => writes.recordUses([...uses]),
  };
}

const KEY = `SELECT ${KEY_COLUMNS} FROM api_key WHERE key_id = @keyId`;

async function readKey(session: Tx, keyId: KeyId): Promise<KeyLookup | undefined> {
  const row = await session.get<KeyRow>(KEY, { keyId });
  const consumer = row && (await session.get<ConsumerRow>(CONSUMER, { id: row.consumerId }));
  if (!consumer) return undefined;
  const { createdAt: _createdAt, ...shown } = consumer;
  const grants = await session.all<GrantRow>(GRANTS_OF, { ids: [consumer.id] });
  return { key: toKey(row), consumer: { ...shown, grants: grants.map(toGrant) } };
}

const CONSUMERS_AFTER = `
  SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE (created_at, id) > (@createdAt, @id)
  ORDER BY created_at, id LIMIT @rows`;

async function readPage(
  session: Tx,
  { limit, after }: { limit: number; after?: ConsumerPosition },
): Promise<{ items: Consumer[]; hasMore: boolean }> {
  const { createdAt, id } = after ?? { createdAt: Number.MIN_SAFE_INTEGER, id: '' };
  const values = { createdAt, id, rows: limit + 1 };
  const rows = await session.all<ConsumerRow>(CONSUMERS_AFTER, values);
  const { items, last } = cutPage(rows, limit);
  return { items: await withGrantsAndKeys(session, items), hasMore: last !== undefined };
}
