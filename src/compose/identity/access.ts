import { type Access, type AccessPorts, createAccess } from '#access/index.ts';
import { newUuid } from '#shared/ids.ts';

import type { Store } from '../store.ts';

/** Access on the open store. Close it before the store. */
export function composeAccess(
  { stores, cursors }: Pick<Store, 'stores' | 'cursors'>,
  deps: Pick<AccessPorts, 'clock' | 'log' | 'limitPerMinute'>,
): Access {
  const [store, audit] = [stores.consumers(), stores.audit()];
  return createAccess({ store, audit, cursors, newId: newUuid, ...deps });
}
