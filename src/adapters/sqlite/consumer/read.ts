import type { Database as Handle } from 'better-sqlite3';
import type { Consumer, ConsumerId, Key } from '#access/consumers/consumer.ts';
import type { Grant } from '#access/grants/grant.ts';
import { CONSUMER_COLUMNS, KEY_COLUMNS, toConsumer, toGrant, toKey } from './rows.ts';
import type { ConsumerRow, GrantRow, KeyRow } from './rows.ts';

/** Reads consumers, synchronous. */
export type ConsumerReader = {
  find(id: ConsumerId): Consumer | undefined;
  /** The same without grants and keys. */
  findRow(id: string): ConsumerRow | undefined;
  grantsOf(id: ConsumerId): Grant[];
  /** With its grants and keys. */
  complete(row: ConsumerRow): Consumer;
};

export function createConsumerReader(handle: Handle): ConsumerReader {
  const sql = prepare(handle);
  const grantsOf = (id: ConsumerId): Grant[] => sql.grantsOf.all(id).map(toGrant);
  const keysOf = (id: ConsumerId): Key[] => sql.keysOf.all(id).map(toKey);
  const complete = (row: ConsumerRow): Consumer =>
    toConsumer(row, grantsOf(row.id), keysOf(row.id));
  return {
    find: (id) => {
      const row = sql.consumer.get(id);
      return row && complete(row);
    },
    findRow: (id) => sql.consumer.get(id),
    grantsOf,
    complete,
  };
}

function prepare(handle: Handle) {
  return {
    consumer: handle.prepare<[string], ConsumerRow>(
      `SELECT ${CONSUMER_COLUMNS} FROM consumer WHERE id = ?`,
    ),
    grantsOf: handle.prepare<[string], GrantRow>(
      'SELECT * FROM consumer_grant WHERE consumerId = ? ORDER BY action',
    ),
    keysOf: handle.prepare<[string], KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM api_key WHERE consumerId = ? ORDER BY createdAt, rowid`,
    ),
  };
}
