import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { type Catalog, type CatalogPorts, createCatalog } from '#catalog/index.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import type { Store } from './store.ts';
import type { Stores } from './stores/stores.ts';
import { createServerTarget } from '#adapters/catalog-api/server-target.ts';
import type { TokenSource } from '#adapters/catalog-api/send-request.ts';
import {
  importFiles,
  type ImportReport,
  type ImportRequest,
} from '#catalog/import/import-files.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import { newUuid } from '#shared/ids.ts';

/** The catalog on the open store, with the rules of the configuration. */
export async function composeCatalog(
  { stores, cursors }: Pick<Store, 'cursors'> & { stores: Pick<Stores, 'artifacts'> },
  deps: Pick<CatalogPorts, 'rules'> & { clock: Clock },
): Promise<Catalog> {
  const store = await stores.artifacts();
  return createCatalog({ store, cursors, ...deps, ...createSpecThreads(deps) });
}

/** Imports into the catalog of a server, by its HTTP API. Specs are judged here. */
export async function openCatalogServer(
  { server, credential }: ImportServer,
  clock: Clock,
): Promise<{ importFiles(request: ImportRequest): Promise<ImportReport> }> {
  const tokens = await createTokens(credential, clock);
  const { random } = Math;
  const target = createServerTarget({ server, tokens, clock, random, newKey: newUuid });
  const judge = createSpecThreads({ clock });
  return { importFiles: (request) => importFiles(judge, target, request) };
}

/** A token that is used up while a request is under way is renewed after its 401. */
const RENEW_BEFORE_END_MS = 30 * SECOND;

async function createTokens(
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
