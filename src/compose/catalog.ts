import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { type Catalog, type CatalogRules, createCatalog } from '#catalog/index.ts';
import type { Clock } from '#shared/clock.ts';

import type { Store } from './store.ts';
import type { Stores } from './stores/stores.ts';

/** The catalog on the open store, with the rules of the configuration. */
export async function composeCatalog({
  rules,
  clock,
  store,
}: {
  rules: () => CatalogRules;
  clock: Clock;
  store: Pick<Store, 'cursors'> & { stores: Pick<Stores, 'artifacts'> };
}): Promise<Catalog> {
  return createCatalog({
    store: await store.stores.artifacts(),
    clock,
    cursors: store.cursors,
    ...createSpecThreads({ clock }),
    rules,
  });
}
