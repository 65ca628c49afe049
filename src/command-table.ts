/** Every command, in the order of the help: where its code is (`load`), and what that works on (`services`). Both are loaded when it is called. */
import { createAccess } from '#access/index.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import type { CommandEntry, Open, Register } from '#cli/command.ts';
import type { LoneTrackerRequest } from '#cli/commands/serve.ts';
import type { SandboxRequest } from '#compose/sandbox.ts';
import type { Program } from '#compose/service.ts';
import { openStore, type Store } from '#compose/store.ts';
import type { Config } from '#config/schema/schema.ts';
import { createReceipts } from '#partners/receipts/receipts.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import type { OnProgress } from '#shared/report.ts';

const FETCH_TIMEOUT_MS = 10 * SECOND;

export function createCommands(program: Program): readonly CommandEntry[] {
  return [
    ...commandsOfService(program),
    ...commandsOfStore(program),
    ...commandsOfOperators(program),
    ...commandsOfOwners(program),
  ];
}

function commandsOfService(program: Program): CommandEntry[] {
  const { clock } = program;
  const services = {
    startConfigured: async (load: () => Config, stopping: AbortSignal) =>
      (await import('#compose/service.ts')).startConfigured(program, load, stopping),
    startSandboxService: async (request: SandboxRequest) =>
      (await import('#compose/sandbox.ts')).startSandboxService(program, request),
    startTrackerOnly: async (request: LoneTrackerRequest) =>
      (await import('#compose/sandbox.ts')).startTrackerOnly(program, request),
  };
  return [
    commandOf({
      name: 'serve',
      summary: 'start the service: with --config the real thing, else the sandbox',
      load: async () => (await import('#cli/commands/serve.ts')).registerServe,
      services,
    }),
    commandOf({
      name: 'sandbox',
      summary: 'start everything on this machine, with sample leads',
      load: async () => (await import('#cli/commands/serve.ts')).registerSandbox,
      services,
    }),
    commandOf({
      name: 'doctor',
      summary: 'check the configuration, the tracker and the store, and say what to fix',
      load: async () => (await import('#cli/commands/doctor.ts')).registerDoctor,
      services: async (config) => {
        const { examine } = await import('#doctor/examine.ts');
        return opened({ examine: (how: { fix: boolean }) => examine({ config, clock }, how) });
      },
    }),
    commandOf({
      name: 'health',
      summary: 'ask the running service whether it is well: exit code 0 or 1',
      load: async () => (await import('#cli/commands/health.ts')).registerHealth,
      services: undefined,
    }),
  ];
}

function commandsOfStore({ clock, environment }: Program): CommandEntry[] {
  return [
    commandOf({
      name: 'migrate',
      summary: 'bring the store to the newest schema',
      load: async () => (await import('#cli/commands/store.ts')).registerMigrate,
      services: withStore(clock, async ({ migrated, readApplied }) => ({
        applied: migrated.map(({ name }) => name),
        present: (await readApplied()).map(({ name }) => name),
      })),
    }),
    commandOf({
      name: 'backup',
      summary: 'copy the store into a file and check the copy, while the service runs, too',
      load: async () => (await import('#cli/commands/backup.ts')).registerBackup,
      services: async (config) => {
        const { backUpStore } = await import('#compose/store-maintenance.ts');
        return opened({ backUp: (request) => backUpStore(config, clock, request) });
      },
    }),
    commandOf({
      name: 'restore',
      summary: 'put a backup in the place of an empty store that nobody has open',
      load: async () => (await import('#cli/commands/backup.ts')).registerRestore,
      services: async (config) => {
        const { restoreStore } = await import('#compose/store-maintenance.ts');
        return opened({ restore: (request) => restoreStore(config, request) });
      },
    }),
    commandOf({
      name: 'store',
      summary: 'copy a stopped store to the other engine, or go on where its key is lost',
      load: async () => (await import('#cli/commands/store.ts')).registerStore,
      services: {
        copy: async (request: { from: string; to: string; onProgress: OnProgress }) =>
          (await import('#compose/store-maintenance.ts')).copyStore(request, environment),
        rekey: async (config) => {
          const { rekeyStore } = await import('#compose/store-maintenance.ts');
          return opened({ rekey: (onLoss) => rekeyStore(config, onLoss) });
        },
      },
    }),
  ];
}

function commandsOfOperators({ clock }: Program): CommandEntry[] {
  const access = withStore(clock, ({ database, cursors }, { consumers }) => ({
    access: createAccess({
      db: database,
      cursors,
      newId: newUuid,
      clock,
      log: silentLog,
      limitPerMinute: () => consumers.limitPerMinute,
    }),
  }));
  return [
    commandOf({
      name: 'consumer',
      summary: 'manage consumers of leads, their grants and keys',
      load: async () => (await import('#cli/commands/consumer/consumer.ts')).registerConsumer,
      services: access,
    }),
    commandOf({
      name: 'receipt',
      summary: 'list what partners sent, show what became of it, replay, and verify certificates',
      load: async () => (await import('#cli/commands/receipt.ts')).registerReceipt,
      services: { receipt: receiptsOf(clock), verify: certificatesOf(clock) },
    }),
    commandOf({
      name: 'claim',
      summary: 'show the leads that deletions have claimed, and release one',
      load: async () => (await import('#cli/commands/claim.ts')).registerClaim,
      services: withStore(clock, ({ leads, cursors }) => ({ claimedLeads: { ...leads, cursors } })),
    }),
    commandOf({
      name: 'audit',
      summary: 'list who changed what, and when',
      load: async () => (await import('#cli/commands/audit.ts')).registerAudit,
      services: access,
    }),
  ];
}

function receiptsOf(clock: Clock) {
  return withStore(clock, (store, config) => ({
    importer: async () =>
      (await import('#compose/receipt-import.ts')).openImporter({ store, config, clock }),
    receipts: createReceipts({
      db: store.database,
      cursors: store.cursors,
      clock,
      // The worker of a running service looks for due events by itself.
      wakeWorker: () => undefined,
    }),
  }));
}

function certificatesOf(clock: Clock) {
  return {
    check: async (text: string, keySet: unknown) =>
      (await import('#adapters/jose/certificates.ts')).verifyCertificate(text, keySet),
    fetchKeys: async (url: string) => {
      const { fetchJson } = await import('#adapters/jose/fetch-json.ts');
      return fetchJson(url, AbortSignal.timeout(FETCH_TIMEOUT_MS));
    },
    keys: withStore(clock, ({ database, secretKey }) => ({
      readKeys: async () => {
        const { createCertificateSigner } = await import('#adapters/jose/certificates.ts');
        const seed = deriveKey(secretKey, 'certificates');
        return createCertificateSigner({ seed, db: database, clock }).keys();
      },
    })),
  };
}

function commandsOfOwners({ clock }: Program): CommandEntry[] {
  return [
    commandOf({
      name: 'sign',
      summary: 'sign a call as a partner would, to try it out',
      load: async () => (await import('#cli/commands/sign.ts')).registerSign,
      services: undefined,
    }),
    commandOf({
      name: 'catalog',
      summary: 'import API descriptions and artifacts from files',
      load: async () => (await import('#cli/commands/catalog/catalog-import.ts')).registerCatalog,
      services: {
        judge: async () =>
          (await import('#adapters/threads/spec-threads.ts')).createSpecThreads({ clock }),
        tokens: async (credential: ImportServer['credential']) => {
          const { createTokens } = await import('#adapters/openid-client/renewed-tokens.ts');
          return createTokens(credential, clock);
        },
      },
    }),
    commandOf({
      name: 'openapi',
      summary: 'print the description of the HTTP interface',
      load: async () => (await import('#cli/commands/openapi.ts')).registerOpenApi,
      services: { render: async () => (await import('#compose/openapi.ts')).renderOpenApi() },
    }),
  ];
}

/** A command with what it works on, of which nothing is made before it is called. */
function commandOf<Services>({
  name,
  summary,
  load,
  services,
}: {
  name: string;
  summary: string;
  load: () => Promise<Register<Services>>;
  services: Services;
}): CommandEntry {
  return {
    name,
    summary,
    load: async () => {
      const register = await load();
      return (command, context) => register(command, { ...context, services });
    },
  };
}

/** Opens the store of the configuration, and makes of it what a command works on. */
function withStore<T>(
  clock: Clock,
  make: (store: Store, config: Config) => T | Promise<T>,
): Open<T> {
  return async (config) => {
    const store = await openStore({ config, clock, log: silentLog });
    return { services: await make(store, config), close: () => store.close() };
  };
}

/** Stands for what opens nothing before it works. */
function opened<T>(services: T) {
  return { services, close: () => Promise.resolve() };
}
