/** Commands for the store as a whole: migrated, backed up, restored, copied, given a new key. */
import type { Command } from 'commander';
import type { LostReceipt } from '#partners/receipts/receipt.ts';
import { toRfc3339 } from '#shared/clock.ts';
import {
  CommandFailure,
  type ConfigOptions,
  confirm,
  printJson,
  type Register,
  type RunContext,
  type Task,
} from '../command.ts';
import { createProgress } from '../progress.ts';
import { withStore } from '../with-store.ts';
import { renderFacts, renderTable } from '../table.ts';

/** `migrate`: brings the store to the newest schema. `serve` does the same at its start. */
export const registerMigrate: Register = (command, { action }) => {
  command.action(
    action(async (task) => {
      const { terminal, isJson } = task;
      const found = await withStore(
        task,
        async ({ migrated, readApplied }) => ({ migrated, all: await readApplied() }),
        { mustExist: false },
      );
      const applied = found.migrated.map(({ name }) => name);
      const present = found.all.map(({ name }) => name);
      if (isJson) printJson(terminal, { applied, present });
      else if (applied.length === 0)
        terminal.print(`The store is up to date (${present.length} migrations).`);
      else terminal.print(applied.map((name) => `applied ${name}`).join('\n'));
    }),
  );
};

/** `backup FILE`: copies the store, while the service runs, too. */
export const registerBackup: Register = (command, { action }) => {
  command
    .argument('<file>', 'where the backup goes; its folder must exist')
    .option('--force', 'replace FILE when it is there')
    .action(
      action<{ force?: boolean }>(async (task) => {
        const { config, terminal, clock, isJson, args, options } = task;
        const { backUpStore } = await import('#compose/store-maintenance.ts');
        const report = await backUpStore(config, clock, {
          file: args[0] ?? '',
          isForced: options.force === true,
          onProgress: createProgress({ terminal, clock, isJson }),
        });
        if (isJson) return printJson(terminal, report);
        const { file, createdAt, rows, tables, secretKeyFile } = report;
        terminal.print(
          renderFacts([
            ['backup', file],
            ['as of', createdAt],
            ['tables', String(tables.length)],
            ['rows', String(rows)],
          ]),
        );
        if (secretKeyFile !== undefined)
          terminal.note(
            `The secret key is not in it: keep a copy of ${secretKeyFile} in another place, for a restore needs it.`,
          );
      }),
    );
};

/** `restore FILE`: puts a backup in the place of an empty store that nobody has open. */
export const registerRestore: Register = (command, { action }) => {
  command.argument('<file>', 'what `trackport backup` made').action(
    action(async ({ config, terminal, clock, isJson, args }) => {
      const onProgress = createProgress({ terminal, clock, isJson });
      const { restoreStore } = await import('#compose/store-maintenance.ts');
      const report = await restoreStore(config, { file: args[0] ?? '', onProgress });
      if (isJson) return printJson(terminal, report);
      const { file, createdAt, version, rows, migrated, missingSecretKeyFile } = report;
      terminal.print(
        renderFacts([
          ['restored', file],
          ['as of', createdAt],
          ['made by', `trackport ${version}`],
          ['rows', String(rows)],
          ['migrated', migrated.join(', ') || 'nothing'],
        ]),
      );
      if (missingSecretKeyFile !== undefined)
        terminal.note(
          `The secret key is not in a backup: put yours at ${missingSecretKeyFile} before you start.`,
        );
      return terminal.note(
        'What came after the backup is forgotten. The lead directory is crawled anew at the start.',
      );
    }),
  );
};

/** `store copy FROM TO`, from SQLite to PostgreSQL, and `store rekey`, where the key is lost. */
export const registerStore: Register = (command, context) => {
  command
    .command('copy')
    .description('copy a stopped store from SQLite to PostgreSQL')
    .argument('<from>', 'sqlite:PATH')
    .argument('<to>', 'postgres://user:password@host/database: a database with nothing in it')
    .addHelpText(
      'after',
      "\n'${NAME}' stands for an environment variable, '${file:PATH}' for a file's text.",
    )
    .action(async (_from: string, _to: string, _options: unknown, self: Command) => {
      await copy(context, self);
    });
  command
    .command('rekey')
    .description('drop what only a lost secretKey reads, and go on with the configured one')
    .option('--yes', 'do not ask, as in a script')
    .action(
      context.action<{ yes?: true }>(async (task) => {
        const { rekeyStore } = await import('#compose/store-maintenance.ts');
        await rekeyStore(task.config, (lost) => confirmLoss(task, lost));
        task.terminal.note('The store has its new key. The next start crawls all issues anew.');
      }),
    );
};

async function confirmLoss(
  { terminal, isJson, options }: Task<{ yes?: true }>,
  lost: readonly LostReceipt[],
): Promise<void> {
  const receipts = lost.map((one) => ({ ...one, receivedAt: toRfc3339(one.receivedAt) }));
  if (isJson) printJson(terminal, { lost: receipts });
  else {
    const rows = receipts.map(({ receivedAt, id, partnerId }) => [receivedAt, id, partnerId]);
    terminal.print(renderTable(['received', 'id', 'partner'], rows, 'No delivery waits.'));
  }
  terminal.note(
    'These deliveries will not be read: have them sent again. Sessions, cursors and what is kept for replays go, too.',
  );
  if (options.yes === true) return;
  if (!terminal.ask) throw new CommandFailure('Nothing was changed: add --yes.');
  await confirm(terminal, 'Drop all of that for good?');
}

async function copy(context: RunContext, command: Command): Promise<void> {
  const { terminal, clock, environment } = context;
  const [from = '', to = ''] = command.args;
  const isJson = command.optsWithGlobals<ConfigOptions>().json === true;
  const onProgress = createProgress({ terminal, clock, isJson });
  const { copyStore } = await import('#compose/store-maintenance.ts');
  const report = await copyStore({ from, to, onProgress }, environment);
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
