import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { type CatalogOptions, createCatalog } from '#catalog/index.ts';
import { createReadRecord } from '#catalog/usage/record-reads.ts';
import type { Catalog } from '#catalog/version/version-view.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Store } from './store.ts';
import type { Stores } from './stores/stores.ts';
import type { ImportServer, TokenSource } from '#catalog/import/import-target.ts';

/** The catalog on the open store, with the rules of the configuration. */
export function composeCatalog(
  { stores, cursors }: Pick<Store, 'cursors'> & { stores: Pick<Stores, 'catalog'> },
  { log, ...deps }: Pick<CatalogOptions, 'rules'> & { clock: Clock; log: Log },
): Catalog {
  const engine = stores.catalog();
  const usage = createReadRecord({ ...engine, ...deps, log });
  return createCatalog({ ...engine, cursors, ...deps, ...createSpecThreads(deps), usage });
}

/** A token that is used up while a request is under way is renewed after its 401. */
const RENEW_BEFORE_END_MS = 30 * SECOND;

/** Tokens for an import: the one that was given, or those of a client. */
export async function createTokens(
  credential: ImportServer['credential'],
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<TokenSource> {
  if (credential.kind === 'token') return { token: async () => credential.token.reveal() };
  const { createMachineTokens } = await import('#adapters/openid-client/client-credentials.ts');
  const request = createMachineTokens(credential);
  let current: { token: string; goodUntil: number } | undefined;
  return {
    token: async () => {
      if (!current || clock.monotonicMs() >= current.goodUntil) {
        const { token, lifetimeMs = Infinity } = await request();
        const spareMs = Math.min(RENEW_BEFORE_END_MS, lifetimeMs / 2);
        current = { token, goodUntil: clock.monotonicMs() + lifetimeMs - spareMs };
      }
      return current.token;
    },
    renew: () => {
      current = undefined;
    },
  };
}
