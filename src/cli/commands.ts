import type { Command } from 'commander';

import type { CommandContext } from './command-context.ts';

/** One family of commands. Its code is loaded when it is called. */
export type CommandEntry = {
  name: string;
  summary: string;
  register(command: Command, context: CommandContext): Promise<void>;
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
    register: async (command, { actionOf, services }) => {
      const { registerDoctor } = await import('./commands/doctor.ts');
      registerDoctor(command, actionOf(services.doctor));
    },
  },
  {
    name: 'migrate',
    summary: 'bring the store to the newest schema',
    register: async (command, { actionOf, services }) => {
      const { registerMigrate } = await import('./commands/migrate.ts');
      registerMigrate(command, actionOf(services.migrate));
    },
  },
  {
    name: 'consumer',
    summary: 'manage consumers of leads, their grants and keys',
    register: async (command, { actionOf, services }) => {
      const { registerConsumer } = await import('./commands/consumer.ts');
      registerConsumer(command, actionOf(services.consumer));
    },
  },
  {
    name: 'receipt',
    summary: 'list what partners sent, show what became of it, and replay',
    register: async (command, { actionOf, services }) => {
      const { registerReceipt } = await import('./commands/receipt.ts');
      registerReceipt(command, actionOf(services.receipt));
    },
  },
  {
    name: 'claim',
    summary: 'show the leads that deletions have claimed, and release one',
    register: async (command, { actionOf, services }) => {
      const { registerClaim } = await import('./commands/claim.ts');
      registerClaim(command, actionOf(services.claim));
    },
  },
  {
    name: 'audit',
    summary: 'list who changed what, and when',
    register: async (command, { actionOf, services }) => {
      const { registerAudit } = await import('./commands/audit.ts');
      registerAudit(command, actionOf(services.audit));
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
    register: async (command, { actionOf, services }) => {
      const { registerCatalog } = await import('./commands/catalog-import.ts');
      registerCatalog(command, actionOf(services.catalog));
    },
  },
  {
    name: 'openapi',
    summary: 'print the description of the HTTP interface',
    register: async (command, { services, terminal }) => {
      const { registerOpenApi } = await import('./commands/openapi.ts');
      registerOpenApi(command, { services: services.openapi, terminal });
    },
  },
];
