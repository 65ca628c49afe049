import { createAccess } from '#access/index.ts';
import type { Access } from '#access/index.ts';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createConsumerStore } from '#adapters/sqlite/consumer/consumer-store.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';

import type { Store } from './store.ts';

export type AccessDeps = {
  store: Pick<Store, 'database' | 'cursors'>;
  clock: Clock;
  log: Log;
  /** Calls per minute of a consumer without a limit of its own. */
  limitPerMinute: () => number;
};

/** Access on the open store. Close it before the store. */
export function composeAccess({ store, clock, log, limitPerMinute }: AccessDeps): Access {
  const { database, cursors } = store;
  return createAccess({
    store: createConsumerStore({ database, clock }),
    audit: createAuditLog(database),
    cursors,
    clock,
    newId: newUuid,
    log,
    limitPerMinute,
  });
}
