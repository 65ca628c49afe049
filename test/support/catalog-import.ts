/** `catalog import` into a catalog that is served here. */
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import type { TokenPrincipal } from '#access/tokens.ts';
import type { CatalogOptions } from '#catalog/index.ts';
import { importByCommand } from '#cli/commands/catalog/catalog-import.ts';
import { addImportOptions } from '#cli/commands/catalog/import-options.ts';
import type { Environment } from '#config/environment.ts';
import type { Clock } from '#shared/clock.ts';
import { openWorld } from './world.ts';
import { type Output, terminalTo } from './command.ts';
import { specThreads } from './threads.ts';
import { tokenFor } from './tokens.ts';

export type ImportRun = Output & {
  /** Its message. */
  failure?: string;
  /** By the kind of error, which decides the exit code. */
  failedAs?: string;
};

type How = {
  json?: boolean;
  isInteractive?: boolean;
  hasColour?: boolean;
  environment?: Environment;
  clock: Clock;
};

/** Runs the command, by the threads that tests share; a failure is told, and what was printed before it. */
export async function runImport(args: readonly string[], how: How): Promise<ImportRun> {
  const { clock, environment = {}, json = false } = how;
  const output: Output = { out: '', notes: '' };
  const context = { terminal: terminalTo(output, how), clock, environment };
  const program = new Command()
    .option('--config <file>')
    .option('--json')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  addImportOptions(program.command('import <path>')).action(
    (_path: string, _options: unknown, self: Command) =>
      importByCommand(context, self, specThreads),
  );
  try {
    await program.parseAsync(['import', ...args, ...(json ? ['--json'] : [])], { from: 'user' });
    return output;
  } catch (error) {
    const { name: failedAs, message: failure } = error as Error;
    return { ...output, failure, failedAs };
  }
}

/** A catalog behind HTTP, and the options with which an import comes to it. */
export async function serveCatalog(facts: Partial<CatalogOptions> = {}) {
  const { app, ...others } = openWorld({ catalog: facts });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const login = (as: Partial<TokenPrincipal> = {}): string[] => [
    '--server',
    url,
    '--token',
    tokenFor(as),
  ];
  return { ...others, url, login };
}
