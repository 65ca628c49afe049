import { createAuditLog } from '#adapters/store/audit-log.ts';
import { createChangeLog } from '#adapters/store/change-log.ts';
import { createConsumerStore } from '#adapters/store/consumer/consumer-store.ts';
import { createIdempotencyStore } from '#adapters/store/idempotency-store.ts';
import type { StoreDatabase } from '#adapters/store/session.ts';
import { createTrafficStore } from '#adapters/store/traffic-store.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';

import type { Stores } from './stores.ts';

/** The stores that are the same on every engine. */
export function createSharedStores(database: StoreDatabase, clock: Pick<Clock, 'now'>) {
  return {
    audit: () => createAuditLog(database),
    changes: () => createChangeLog(database, { instanceId: newUuid() }),
    consumers: () => createConsumerStore({ database, clock }),
    idempotency: () => createIdempotencyStore(database),
    sessions: async () => {
      const { createSessionStore } = await import('#adapters/store/session-store.ts');
      return createSessionStore(database);
    },
    traffic: () => createTrafficStore(database),
  } satisfies Partial<Stores>;
}
