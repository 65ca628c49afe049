import type { Command } from 'commander';

import type { CommandContext } from './command.ts';
import type { Services } from './services.ts';

/** One family of commands. Its code is loaded when it is called. */
export type CommandEntry = {
  name: string;
  summary: string;
  register(command: Command, context: CommandContext<Services>): Promise<void>;
};

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the service: with --config the real thing, else the sandbox',
    register: async (command, context) => {
      const { registerServe } = await import('./commands/serve.ts');
      registerServe(command, { ...context, services: context.services.serve });
    },
  },
  {
    name: 'sandbox',
    summary: 'start everything on this machine, with sample leads',
    register: async (command, context) => {
      const { registerSandbox } = await import('./commands/serve.ts');
      registerSandbox(command, { ...context, services: context.services.serve });
    },
  },
  {
    name: 'doctor',
    summary: 'check the configuration, the tracker and the store, and say what to fix',
    register: async (command, context) => {
      const { registerDoctor } = await import('./commands/doctor.ts');
      registerDoctor(command, { ...context, services: context.services.doctor });
    },
  },
  {
    name: 'health',
    summary: 'ask the running service whether it is well: exit code 0 or 1',
    register: async (command, context) => {
      const { registerHealth } = await import('./commands/health.ts');
      registerHealth(command, context);
    },
  },
  {
    name: 'migrate',
    summary: 'bring the store to the newest schema',
    register: async (command, context) => {
      const { registerMigrate } = await import('./commands/store/migrate.ts');
      registerMigrate(command, { ...context, services: context.services.migrate });
    },
  },
  {
    name: 'backup',
    summary: 'copy the store into a file and check the copy, while the service runs, too',
    register: async (command, context) => {
      const { registerBackup } = await import('./commands/store/backup.ts');
      registerBackup(command, { ...context, services: context.services.backup });
    },
  },
  {
    name: 'restore',
    summary: 'put a backup in the place of an empty store that nobody has open',
    register: async (command, context) => {
      const { registerRestore } = await import('./commands/store/restore.ts');
      registerRestore(command, { ...context, services: context.services.restore });
    },
  },
  {
    name: 'store',
    summary: 'copy a stopped store to the other engine, or go on where its key is lost',
    register: async (command, context) => {
      const { registerStore } = await import('./commands/store/store.ts');
      registerStore(command, { ...context, services: context.services.store });
    },
  },
  {
    name: 'consumer',
    summary: 'manage consumers of leads, their grants and keys',
    register: async (command, context) => {
      const { registerConsumer } = await import('./commands/consumer/consumer.ts');
      registerConsumer(command, { ...context, services: context.services.consumer });
    },
  },
  {
    name: 'receipt',
    summary: 'list what partners sent, show what became of it, and replay',
    register: async (command, context) => {
      const { registerReceipt } = await import('./commands/receipt/receipt.ts');
      registerReceipt(command, { ...context, services: context.services.receipt });
    },
  },
  {
    name: 'claim',
    summary: 'show the leads that deletions have claimed, and release one',
    register: async (command, context) => {
      const { registerClaim } = await import('./commands/claim.ts');
      registerClaim(command, { ...context, services: context.services.claim });
    },
  },
  {
    name: 'audit',
    summary: 'list who changed what, and when',
    register: async (command, context) => {
      const { registerAudit } = await import('./commands/audit.ts');
      registerAudit(command, { ...context, services: context.services.audit });
    },
  },
  {
    name: 'sign',
    summary: 'sign a call as a partner would, to try it out',
    register: async (command, context) => {
      const { registerSign } = await import('./commands/sign.ts');
      registerSign(command, context);
    },
  },
  {
    name: 'catalog',
    summary: 'import API descriptions and artifacts from files',
    register: async (command, context) => {
      const { registerCatalog } = await import('./commands/catalog/catalog-import.ts');
      registerCatalog(command, { ...context, services: context.services.catalog });
    },
  },
  {
    name: 'openapi',
    summary: 'print the description of the HTTP interface',
    register: async (command, context) => {
      const { registerOpenApi } = await import('./commands/openapi.ts');
      registerOpenApi(command, { ...context, services: context.services.openapi });
    },
  },
];
