import { type AccessVersion, createAccessVersion } from '#access/keys/authenticate-key.ts';
import {
  changeConsumer,
  type ConsumerChange,
  type ConsumerPosition,
  findConsumer,
  insertConsumer,
  listConsumers,
  lookUpKey,
  recordKeyUses,
} from '#access/consumers/stored-consumers.ts';
import type { Consumer, KeyId } from '#access/consumers/consumer.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';

export type StoredConsumers = ReturnType<typeof consumersIn>;

/** The consumers of a database, as one instance of the service has them. */
export function consumersIn(db: Database, clock: Clock = systemClock) {
  const accessVersion: AccessVersion = createAccessVersion(db, clock);
  const registry = { db, clock, newId: newUuid, accessVersion };
  return {
    registry,
    version: () => accessVersion.read(),
    findKey: (keyId: KeyId) => lookUpKey(db, keyId),
    find: (id: string) => findConsumer(db, id),
    list: (page: { limit: number; after?: ConsumerPosition }) => listConsumers(db, page),
    insert: (change: ConsumerChange) => insertConsumer(registry, change),
    change: (id: string, decide: (before: Consumer) => ConsumerChange | undefined) =>
      changeConsumer(registry, id, decide),
    recordUses: (uses: ReadonlyMap<KeyId, number>) => recordKeyUses(db, uses),
  };
}
