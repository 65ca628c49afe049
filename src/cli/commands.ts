import type { Open, Register } from './command.ts';
import type { Access } from '#access/index.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { ImportTools } from './commands/catalog/catalog-import.ts';
import type { Doctor } from './commands/doctor.ts';
import type { OpenApiDocument } from './commands/openapi.ts';
import type { ReceiptWork } from './commands/receipt.ts';
import type { Launcher } from './commands/serve.ts';
import type { CertificateChecker } from './commands/verify.ts';
import type { Backup, Restore } from './commands/backup.ts';
import type { MigratedStore, StoreMaintenance } from './commands/store.ts';

/** One family of commands. Its code is loaded when it is called. */
type CommandEntry = {
  name: string;
  summary: string;
  load: () => Promise<Register<Families>>;
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
 * Families of commands, each with its services of the composition root: an opener, so that nothing is
 * made before a command needs it.
 */
export type Families = {
  serve: Launcher;
  openapi: OpenApiDocument;
  store: StoreMaintenance;
  doctor: Open<Doctor>;
  migrate: Open<MigratedStore>;
  backup: Open<Backup>;
  restore: Open<Restore>;
  consumer: Open<{ access: Access }>;
  receipt: Open<ReceiptWork>;
  verify: CertificateChecker;
  claim: Open<{ claimedLeads: ClaimedLeads }>;
  audit: Open<{ access: Access }>;
  catalog: ImportTools;
};
