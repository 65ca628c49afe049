/** What commands work on, opened one family at a time. Imports what only some need when they do. */
import { createAccess } from '#access/index.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import type { Environment } from '#config/interpolate.ts';
import { readTracing } from '#config/tracing.ts';
import type { Config } from '#config/schema/schema.ts';
import { createReceipts } from '#partners/receipts/receipts.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { newUuid } from '#shared/ids.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { COMMIT, VERSION } from '#shared/program.ts';
import type { OnProgress } from '#shared/report.ts';
import { createLog, type LogOutput } from '../telemetry/log.ts';
import { logWarnings, reloadService } from './reload.ts';
import { openStore, type Store } from '../store.ts';
import type { TrackerRequest } from './tracker-alone.ts';

const FETCH_TIMEOUT_MS = 10 * SECOND;

type CopyRequest = { from: string; to: string; onProgress: OnProgress };

type Opened<T> = { services: T; close(): Promise<void> };

export type CommandServicesDeps = { clock: Clock; environment: Environment; logOutput: LogOutput };

/** Everything that the command line needs of the composition root. */
export function createCommandServices(deps: CommandServicesDeps) {
  const { clock } = deps;
  return {
    serve: createServeServices(deps),
    openapi: {
      render: async () => (await import('./openapi.ts')).renderOpenApi(),
    },
    store: {
      copy: async (request: CopyRequest) =>
        (await import('./stopped-store.ts')).copyStore(request, deps.environment),
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

function createServeServices({ clock, environment, logOutput }: CommandServicesDeps) {
  return {
    service: async (load: () => Config, stopping: AbortSignal) => {
      const config = load();
      const { startService } = await import('../service.ts');
      const log = createLog(config.server.logLevel, logOutput);
      logWarnings(log, config);
      const tracing = readTracing(environment);
      const service = await startService({ config, clock, log, logOutput, tracing, stopping });
      sayListening(log, config, service.url);
      return { stop: () => service.stop(), reload: () => reloadService({ load, service, log }) };
    },
    sandbox: async (request: { port: string | undefined; print: (text: string) => void }) => {
      const { startSandboxService } = await import('./sandbox.ts');
      return startSandboxService({ ...request, clock, environment, logOutput });
    },
    tracker: async (request: Omit<TrackerRequest, 'clock' | 'logOutput'>) => {
      const { startTrackerOnly } = await import('./tracker-alone.ts');
      return startTrackerOnly({ ...request, clock, logOutput });
    },
  };
}

function sayListening(log: Log, { server, portal }: Config, url: string): void {
  const facts = {
    version: VERSION,
    commit: COMMIT,
    ...(portal && { portal: `${server.publicUrl ?? url}/portal` }),
  };
  log.info({ ...facts, url }, 'listening');
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
