import type { Open, Register } from './command.ts';
import type { AuditServices } from './commands/audit.ts';
import type { CatalogServices } from './commands/catalog/catalog-import.ts';
import type { ClaimServices } from './commands/claim.ts';
import type { ConsumerServices } from './commands/consumer/consumer.ts';
import type { DoctorServices } from './commands/doctor.ts';
import type { OpenApiServices } from './commands/openapi.ts';
import type { ReceiptServices } from './commands/receipt.ts';
import type { ServeServices } from './commands/serve.ts';
import type { VerifyServices } from './commands/verify.ts';
import type { BackupServices, RestoreServices } from './commands/backup.ts';
import type { MigrateServices, StoreServices } from './commands/store.ts';

/** One family of commands. Its code is loaded when it is called. */
type CommandEntry = {
  name: string;
  summary: string;
  load: () => Promise<Register<Services>>;
};

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the service: with --config the real thing, else the sandbox',
    load: async () => (await import('./commands/serve.ts')).registerServe,
  },
  {
    name: 'sandbox',
    summary: 'start everything on this machine, with sample leads',
    load: async () => (await import('./commands/serve.ts')).registerSandbox,
  },
  {
    name: 'doctor',
    summary: 'check the configuration, the tracker and the store, and say what to fix',
    load: async () => (await import('./commands/doctor.ts')).registerDoctor,
  },
  {
    name: 'health',
    summary: 'ask the running service whether it is well: exit code 0 or 1',
    load: async () => (await import('./commands/health.ts')).registerHealth,
  },
  {
    name: 'migrate',
    summary: 'bring the store to the newest schema',
    load: async () => (await import('./commands/store.ts')).registerMigrate,
  },
  {
    name: 'backup',
    summary: 'copy the store into a file and check the copy, while the service runs, too',
    load: async () => (await import('./commands/backup.ts')).registerBackup,
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of an empty store that nobody has open',
    load: async () => (await import('./commands/backup.ts')).registerRestore,
  },
  {
    name: 'store',
    summary: 'copy a stopped store to the other engine, or go on where its key is lost',
    load: async () => (await import('./commands/store.ts')).registerStore,
  },
  {
    name: 'consumer',
    summary: 'manage consumers of leads, their grants and keys',
    load: async () => (await import('./commands/consumer/consumer.ts')).registerConsumer,
  },
  {
    name: 'receipt',
    summary: 'list what partners sent, show what became of it, replay, and verify certificates',
    load: async () => (await import('./commands/receipt.ts')).registerReceipt,
  },
  {
    name: 'claim',
    summary: 'show the leads that deletions have claimed, and release one',
    load: async () => (await import('./commands/claim.ts')).registerClaim,
  },
  {
    name: 'audit',
    summary: 'list who changed what, and when',
    load: async () => (await import('./commands/audit.ts')).registerAudit,
  },
  {
    name: 'sign',
    summary: 'sign a call as a partner would, to try it out',
    load: async () => (await import('./commands/sign.ts')).registerSign,
  },
  {
    name: 'catalog',
    summary: 'import API descriptions and artifacts from files',
    load: async () => (await import('./commands/catalog/catalog-import.ts')).registerCatalog,
  },
  {
    name: 'openapi',
    summary: 'print the description of the HTTP interface',
    load: async () => (await import('./commands/openapi.ts')).registerOpenApi,
  },
];

/**
 * What the commands need from the composition root, one opener per family: nothing is made before
 * a command needs it.
 */
export type Services = {
  serve: ServeServices;
  openapi: OpenApiServices;
  store: StoreServices;
  doctor: Open<DoctorServices>;
  migrate: Open<MigrateServices>;
  backup: Open<BackupServices>;
  restore: Open<RestoreServices>;
  consumer: Open<ConsumerServices>;
  receipt: Open<ReceiptServices>;
  verify: VerifyServices;
  claim: Open<ClaimServices>;
  audit: Open<AuditServices>;
  catalog: CatalogServices;
};
