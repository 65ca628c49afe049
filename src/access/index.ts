import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import type { Database } from '#shared/database.ts';
import type { NewId } from '#shared/ids.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { listAudit } from './audit-log.ts';
import {
  createConsumer,
  findConsumers,
  pageConsumers,
  readConsumer,
  replaceGrants,
  revokeConsumer,
  updateConsumer,
} from './consumers/manage-consumers.ts';
import { createAccessVersion } from './keys/access-version.ts';
import { type ConsumerPrincipal, createKeyAuthenticator } from './keys/authenticate-key.ts';
import { addKey, revokeKey, rotateKey } from './keys/manage-keys.ts';
import { createLimiter } from './limit.ts';
import type { KeyId } from './consumers/consumer.ts';
import { lookUpKey, recordKeyUses } from './consumers/stored-consumers.ts';

/** The use cases of access. Each is documented, with the codes that it throws, where it stands. */
export type Access = ReturnType<typeof createAccess>;

export function createAccess({
  db,
  cursors,
  newId,
  clock,
  log,
  limitPerMinute: defaultLimit,
}: {
  db: Database;
  cursors: CursorSealer;
  newId: NewId;
  clock: Clock;
  log: Log;
  /** Calls per minute of a consumer without a limit of its own; read once for each call. */
  limitPerMinute: () => number;
}) {
  const accessVersion = createAccessVersion(db, clock);
  const accessStore = { db, cursors, newId, clock, accessVersion };
  // Collected, so that a read of leads costs no write.
  const lastUsed = createLateWrites<KeyId, number>({
    clock,
    log,
    write: (uses) => recordKeyUses(db, uses),
    merge: (_older, newer) => newer,
    failure: 'could not write when keys were last used',
  });
  const authenticator = createKeyAuthenticator({
    clock,
    version: () => accessVersion.current(),
    lookUp: (keyId) => lookUpKey(db, keyId),
    recordUse: (keyId, at) => lastUsed.record(keyId, at),
  });
  const limiter = createLimiter(clock);
  return {
    authenticate: (headerValue: string | undefined) => authenticator.authenticate(headerValue),
    /** Counts one call of a consumer. */
    countCall: ({ consumerId, limitPerMinute = defaultLimit() }: ConsumerPrincipal) =>
      limiter.take(consumerId, limitPerMinute),
    consumers: {
      create: createConsumer.bind(undefined, accessStore),
      read: readConsumer.bind(undefined, accessStore),
      page: pageConsumers.bind(undefined, accessStore),
      find: findConsumers.bind(undefined, accessStore),
      update: updateConsumer.bind(undefined, accessStore),
      replaceGrants: replaceGrants.bind(undefined, accessStore),
      revoke: revokeConsumer.bind(undefined, accessStore),
    },
    keys: {
      add: addKey.bind(undefined, accessStore),
      rotate: rotateKey.bind(undefined, accessStore),
      revoke: revokeKey.bind(undefined, accessStore),
    },
    listAudit: listAudit.bind(undefined, accessStore),
    /** Writes when keys were last used, for the last time. */
    close: () => lastUsed.close(),
  };
}
