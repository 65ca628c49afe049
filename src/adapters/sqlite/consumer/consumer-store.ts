import { consumerNotFound } from '#access/consumers/consumer.ts';
import type { Consumer, ConsumerId, KeyId } from '#access/consumers/consumer.ts';
import type {
  ConsumerChange,
  ConsumerPosition,
  ConsumerStore,
  KeyLookup,
} from '#access/consumer-store.ts';
import type { Clock } from '#shared/clock.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import type { Database } from '../connection/database.ts';
import { guard, refuseContention } from '../connection/errors.ts';
import { createSharedLock } from '../writer/shared-lock.ts';
import { createConsumerReader } from './read.ts';
import type { ConsumerReader } from './read.ts';
import { CONSUMER_COLUMNS, KEY_COLUMNS, toKey } from './rows.ts';
import type { ConsumerRow, KeyRow } from './rows.ts';
import { consumerWrites } from './write-family.ts';

/** How old the version may be: how late a change by another process is noticed. */
const VERSION_MAX_AGE_MS = 10;
/** How often a change is decided anew because another process has just changed the consumer. */
const DECISIONS_MAX = 5;

export type ConsumerStoreDeps = { database: Database; clock: Pick<Clock, 'monotonicMs'> };

type Reading = ReturnType<typeof prepare> & { reader: ConsumerReader };

function prepare({ handle }: Database) {
  return {
    version: handle.prepare<[], number>('SELECT version FROM access_version').pluck(),
    consumersAfter: handle.prepare<[ConsumerPosition & { rows: number }], ConsumerRow>(`
      SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE (createdAt, id) > (@createdAt, @id)
      ORDER BY createdAt, id LIMIT @rows`),
    key: handle.prepare<[string], KeyRow>(`SELECT ${KEY_COLUMNS} FROM api_key WHERE keyId = ?`),
  };
}

/** The consumers of a SQLite database. */
export function createConsumerStore({ database, clock }: ConsumerStoreDeps): ConsumerStore {
  const reader = createConsumerReader(database.handle);
  const reading: Reading = { ...prepare(database), reader };
  const write = database.writer.open(consumerWrites, undefined);
  const versions = createVersionSampler(reading, clock);
  const lock = createSharedLock();

  /** Nobody can hold the consumer while it is decided: what was relied on is checked by the write. */
  const change = async (
    id: ConsumerId,
    decide: (consumer: Consumer) => ConsumerChange | undefined,
  ): Promise<Consumer> => {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const before = guard(() => reader.find(id)) ?? consumerNotFound();
      const decided = decide(before);
      if (!decided) return before;
      const after = await write('change', before, decided);
      versions.expire();
      if (after) return after;
    }
    return refuseContention();
  };
  return {
    version: versions.read,
    findKey: async (keyId) => guard(() => readKey(reading, keyId)),
    find: async (id) => guard(() => reader.find(id)),
    list: async (page) => guard(() => readPage(reading, page)),
    insert: async (inserted) => {
      await write('insert', inserted);
      versions.expire();
    },
    change: (id, decide) => lock.exclusive(() => change(id, decide)),
    recordUses: (uses) => write('recordUses', uses),
  };
}

/** Reads the version at most once in 10 ms, and always after a change made here. */
function createVersionSampler(
  { version: statement }: Pick<Reading, 'version'>,
  clock: Pick<Clock, 'monotonicMs'>,
) {
  let version = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    read: (): number => {
      const now = clock.monotonicMs();
      if (now - readAt >= VERSION_MAX_AGE_MS) {
        version = guard(() => statement.get()) ?? 0;
        readAt = now;
      }
      return version;
    },
    expire: (): void => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

function readKey({ key, reader }: Reading, keyId: KeyId): KeyLookup | undefined {
  const row = key.get(keyId);
  const consumer = row && reader.findRow(row.consumerId);
  if (!consumer) return undefined;
  const { id, name, state, limitPerMinute } = consumer;
  return {
    key: toKey(row),
    consumer: {
      id,
      name,
      state,
      ...(limitPerMinute !== null && { limitPerMinute }),
      grants: reader.grantsOf(id),
    },
  };
}

function readPage(
  { consumersAfter, reader }: Reading,
  { limit, after }: { limit: number; after?: ConsumerPosition },
): { items: Consumer[]; hasMore: boolean } {
  const { createdAt, id } = after ?? { createdAt: Number.MIN_SAFE_INTEGER, id: '' as ConsumerId };
  const rows = consumersAfter.all({ createdAt, id, rows: limit + 1 });
  const { items, last } = cutPage(rows, limit);
  return { items: items.map((row) => reader.complete(row)), hasMore: last !== undefined };
}
