import { createKeySet } from '#adapters/jose/key-set.ts';
import { createTokenVerifier } from '#adapters/jose/token-verifier.ts';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createCatalog } from '#catalog/index.ts';
import { createReadRecord } from '#catalog/usage/record-reads.ts';
import type { Catalog } from '#catalog/version/version-view.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Base, Bearer } from './app.ts';
import type { Store } from './store.ts';

/** No request to the issuer before the first token comes. */
export async function composeBearer(
  base: Base,
  { issuer, jwksUri, clockTolerance, ...rules }: NonNullable<Config['identity']>,
): Promise<Bearer> {
  const { settings, clock, log, store, cleanup } = base;
  const keySet = createKeySet({ issuer, keySetUrl: jwksUri, clock, log });
  cleanup.push('the issuer', () => keySet.close());
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: { issuer, ...rules, clockToleranceMs: clockTolerance },
  });
  const catalog = composeCatalog(store, { rules: () => settings.current().catalog, clock, log });
  cleanup.push('the record of reads', () => catalog.usage.close());
  return { identity: { verifier, keySet }, catalog };
}

/** The catalog on the open store, with the rules of the configuration. */
export function composeCatalog(
  { database: db, search, cursors }: Pick<Store, 'database' | 'search' | 'cursors'>,
  { rules, clock, log }: { rules: () => Config['catalog'] } & Pick<Base, 'clock' | 'log'>,
): Catalog {
  const usage = createReadRecord({ db, clock, log });
  const threads = createSpecThreads({ clock });
  return createCatalog({ db, search, cursors, rules, clock, ...threads, usage });
}
