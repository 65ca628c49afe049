import { bindTo } from '#shared/bind.ts';
import type { Clock } from '#shared/clock.ts';
import { listAudit, type ListAuditDeps } from './audit.ts';
import {
  createConsumer,
  readConsumer,
  replaceGrants,
  revokeConsumer,
  updateConsumer,
} from './consumers/manage-consumers.ts';
import { findConsumers, pageConsumers } from './consumers/find-consumers.ts';
import { type ConsumerPrincipal, createKeyAuthenticator } from './keys/authenticate-key.ts';
import { addKey, revokeKey, rotateKey } from './keys/manage-keys.ts';
import { createLimiter } from './limit.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import type { KeyId } from './consumers/consumer.ts';
import type { ManageDeps } from './consumer-store.ts';

/** What access is made of. */
export type AccessPorts = ManageDeps &
  ListAuditDeps & {
    clock: Clock;
    log: Log;
    /** Calls per minute of a consumer without a limit of its own; read once for each call. */
    limitPerMinute: () => number;
  };

/** The use cases of access. Each is documented, with the codes that it throws, where it stands. */
export type Access = ReturnType<typeof createAccess>;

/** The one way to make access, for the service, the command line and tests. */
export function createAccess({ limitPerMinute: defaultLimit, ...ports }: AccessPorts) {
  const bound = bindTo(() => ports);
  // Collected, so that a read of leads costs no write.
  const lastUsed = createLateWrites<KeyId, number>({
    ...ports,
    write: (uses) => ports.store.recordUses(uses),
    merge: (_older, newer) => newer,
    failure: 'could not write when keys were last used',
  });
  const authenticator = createKeyAuthenticator({
    ...ports,
    recordUse: (keyId, at) => lastUsed.record(keyId, at),
  });
  const limiter = createLimiter({ clock: ports.clock, limitPerMinute: defaultLimit() });
  return {
    /** The consumer behind a key. */
    authenticate: (headerValue: string | undefined) => authenticator.authenticate(headerValue),
    /** Counts one call of a consumer. */
    countCall: ({ consumerId, limitPerMinute = defaultLimit() }: ConsumerPrincipal) =>
      limiter.take(consumerId, limitPerMinute),
    consumers: {
      create: bound(createConsumer),
      read: bound(readConsumer),
      page: bound(pageConsumers),
      find: bound(findConsumers),
      update: bound(updateConsumer),
      replaceGrants: bound(replaceGrants),
      revoke: bound(revokeConsumer),
    },
    keys: { add: bound(addKey), rotate: bound(rotateKey), revoke: bound(revokeKey) },
    listAudit: bound(listAudit),
    /** Writes when keys were last used, for the last time. */
    close: () => lastUsed.close(),
  };
}
