import { createArtifactStore } from '#adapters/sqlite/artifact/artifact-store.ts';
import { createSpecChecker } from '#adapters/threads/spec-checker.ts';
import { coreSources, coreTypes } from '#catalog/version/artifact.ts';
import type { CatalogDeps } from '#catalog/version/version-view.ts';
import type { Config } from '#config/schema.ts';
import type { Clock } from '#shared/clock.ts';

import type { Store } from './store.ts';

/** The catalog on the open store, with the words of the configuration. */
export function createCatalog({
  config,
  clock,
  store,
}: {
  config: Pick<Config, 'catalog'>;
  clock: Clock;
  store: Pick<Store, 'database' | 'cursors'>;
}): CatalogDeps {
  const { types, sources, findings } = config.catalog;
  return {
    store: createArtifactStore(store.database),
    clock,
    cursors: store.cursors,
    checkSpec: createSpecChecker({ clock }),
    words: { types: [...coreTypes, ...types], sources: [...coreSources, ...sources] },
    findings,
  };
}
