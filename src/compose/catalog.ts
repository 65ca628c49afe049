import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { createSpecChecker } from '#adapters/threads/spec-checker.ts';
import { createCatalog } from '#catalog/index.ts';
import type { Catalog, CatalogRules } from '#catalog/index.ts';
import type { Clock } from '#shared/clock.ts';

import type { Store } from './store.ts';

/** The catalog on the open store, with the rules of the configuration. */
export function composeCatalog({
  rules,
  clock,
  store,
}: {
  rules: () => CatalogRules;
  clock: Clock;
  store: Pick<Store, 'database' | 'cursors'>;
}): Catalog {
  return createCatalog({
    store: createArtifactStore(store.database),
    clock,
    cursors: store.cursors,
    checkSpec: createSpecChecker({ clock }),
    rules,
  });
}
