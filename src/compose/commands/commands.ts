/** Opens the service, the store and the tools that commands work on. Imports what only some need when they do. */
import { createAccess } from '#access/index.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import type { Config } from '#config/schema/schema.ts';
import { createReceipts } from '#partners/receipts/receipts.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import type { OnProgress } from '#shared/report.ts';
import { openStore, type Store } from '../store.ts';
import type { SandboxRequest, TrackerRequest } from './sandbox.ts';
import type { Program } from '../service.ts';

const FETCH_TIMEOUT_MS = 10 * SECOND;

type CopyRequest = { from: string; to: string; onProgress: OnProgress };

type Opened<T> = { services: T; close(): Promise<void> };

/** Everything that the command line needs of the composition root. */
export function createCommandServices(program: Program) {
  const { clock, environment } = program;
  return {
    serve: {
      service: async (load: () => Config, stopping: AbortSignal) =>
        (await import('../service.ts')).serve(program, load, stopping),
      sandbox: async (request: SandboxRequest) =>
        (await import('./sandbox.ts')).startSandboxService(program, request),
      tracker: async (request: TrackerRequest) =>
        (await import('./sandbox.ts')).startTrackerOnly(program, request),
    },
    openapi: {
      render: async () => (await import('./openapi.ts')).renderOpenApi(),
    },
    store: {
      copy: async (request: CopyRequest) =>
        (await import('./stopped-store.ts')).copyStore(request, environment),
      rekey: async (config: Config) => (await import('./stopped-store.ts')).openRekey(config),
    },
    doctor: async (config: Config) => {
      const { examine } = await import('../doctor/doctor.ts');
      const services = { examine: (how: { fix: boolean }) => examine({ config, clock }, how) };
      return { services, close: async () => {} };
    },
    backup: async (config: Config) => (await import('./backup.ts')).openBackup(config, clock),
    restore: async (config: Config) => (await import('./backup.ts')).openRestore(config),
    ...createStoreServices(clock),
  };
}

/** Services of the commands that work on the store alone. */
function createStoreServices(clock: Clock) {
  const withStore =
    <T>(make: (store: Store, config: Config) => T | Promise<T>) =>
    async (config: Config): Promise<Opened<T>> => {
      const store = await openStore({ config, clock, log: silentLog });
      return { services: await make(store, config), close: () => store.close() };
    };
  const toAccess = ({ database, cursors }: Store, { consumers }: Config) => ({
    access: createAccess({
      db: database,
      cursors,
      newId: newUuid,
      clock,
      log: silentLog,
      limitPerMinute: () => consumers.limitPerMinute,
    }),
  });
  return {
    consumer: withStore(toAccess),
    receipt: withStore((store, config) => ({
      importer: async () =>
        (await import('./receipt-import.ts')).openImporter({ store, config, clock }),
      receipts: createReceipts({
        db: store.database,
        cursors: store.cursors,
        clock,
        // The worker of a running service looks for due events by itself.
        wakeWorker: () => undefined,
      }),
    })),
    verify: {
      check: async (text: string, keySet: unknown) =>
        (await import('#adapters/jose/certificates.ts')).verifyCertificate(text, keySet),
      fetchKeys: async (url: string) => {
        const { fetchJson } = await import('#adapters/jose/fetch-json.ts');
        return fetchJson(url, AbortSignal.timeout(FETCH_TIMEOUT_MS));
      },
      keys: withStore(({ database, secretKey }) => ({
        readKeys: async () => {
          const { createCertificateSigner } = await import('#adapters/jose/certificates.ts');
          const seed = deriveKey(secretKey, 'certificates');
          return createCertificateSigner({ seed, db: database, clock }).keys();
        },
      })),
    },
    claim: withStore(({ leads, cursors }) => ({
      claimedLeads: { ...leads, cursors },
    })),
    audit: withStore(toAccess),
    catalog: {
      judge: async () =>
        (await import('#adapters/threads/spec-threads.ts')).createSpecThreads({ clock }),
      tokens: async (credential: ImportServer['credential']) =>
        (await import('#adapters/openid-client/renewed-tokens.ts')).createTokens(credential, clock),
    },
    migrate: withStore(async ({ migrated, readApplied }) => ({
      applied: migrated.map(({ name }) => name),
      present: (await readApplied()).map(({ name }) => name),
    })),
  };
}
