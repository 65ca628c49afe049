import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { type Catalog, type CatalogPorts, createCatalog } from '#catalog/index.ts';
import type { Clock } from '#shared/clock.ts';

import type { Store } from './store.ts';
import type { Stores } from './stores/stores.ts';

/** The catalog on the open store, with the rules of the configuration. */
export async function composeCatalog(
  { stores, cursors }: Pick<Store, 'cursors'> & { stores: Pick<Stores, 'artifacts'> },
  deps: Pick<CatalogPorts, 'rules'> & { clock: Clock },
): Promise<Catalog> {
  const store = await stores.artifacts();
  return createCatalog({ store, cursors, ...deps, ...createSpecThreads(deps) });
}
