import type { Command } from 'commander';
import type { OnProgress } from '#shared/progress.ts';
import { printJson } from '../../command.ts';
import type { ConfigOptions, Register, RunContext } from '../../command.ts';
import { createProgress } from '../../progress.ts';
import { renderFacts } from '../../table.ts';

/** What was copied, and what is to be looked at. */
type CopyReport = {
  /** Without user and password. */
  from: string;
  to: string;
  rows: number;
  tables: readonly { table: string; rows: number; sha256: string }[];
  /** The file of the secret key, which is in no store; absent: the configuration has the key. */
  secretKeyFile?: string;
};

export type StoreServices = {
  copy(request: { from: string; to: string; onProgress: OnProgress }): Promise<CopyReport>;
};

/** `store copy FROM TO`: copies a stopped store from one engine to the other. */
export const registerStore: Register<StoreServices> = (command, context) => {
  command
    .command('copy')
    .description('copy a stopped store from SQLite to PostgreSQL, or back')
    .argument('<from>', 'sqlite:PATH or postgres://user:password@host/database')
    .argument('<to>', 'the same of the other engine: a store with nothing in it, or none yet')
    .addHelpText(
      'after',
      "\n'${NAME}' stands for an environment variable, '${file:PATH}' for what a file holds.",
    )
    .action(async (_from: string, _to: string, _options: unknown, self: Command) => {
      await copy(context, self);
    });
};

async function copy(
  { terminal, clock, services }: RunContext & { services: StoreServices },
  command: Command,
): Promise<void> {
  const [from = '', to = ''] = command.args;
  const isJson = command.optsWithGlobals<ConfigOptions>().json === true;
  const onProgress = createProgress({ terminal, clock, isJson });
  const report = await services.copy({ from, to, onProgress });
  if (isJson) return printJson(terminal, report);
  const { rows, tables, secretKeyFile } = report;
  terminal.print(
    renderFacts([
      ['copied', report.from],
      ['to', report.to],
      ['tables', String(tables.length)],
      ['rows', String(rows)],
    ]),
  );
  terminal.note(
    secretKeyFile === undefined
      ? 'The secret key is in no store: leave secretKey in the configuration as it is.'
      : `The secret key is in no store: unless the configuration has one, add secretKey: "\${file:${secretKeyFile}}".`,
  );
  terminal.note(
    'Now name the copy in store.url. Never start a service on the original again: it knows of no deletion that comes from now on.',
  );
}
