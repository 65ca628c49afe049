import { type Access, createAccess } from '#access/index.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';

import type { Store } from '../store.ts';

export type AccessDeps = {
  store: Pick<Store, 'stores' | 'cursors'>;
  clock: Clock;
  log: Log;
  /** Calls per minute of a consumer without a limit of its own. */
  limitPerMinute: () => number;
};

/** Access on the open store. Close it before the store. */
export function composeAccess({ store, clock, log, limitPerMinute }: AccessDeps): Access {
  const { stores, cursors } = store;
  return createAccess({
    store: stores.consumers(),
    audit: stores.audit(),
    cursors,
    clock,
    newId: newUuid,
    log,
    limitPerMinute,
  });
}
