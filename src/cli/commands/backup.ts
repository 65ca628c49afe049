import { printJson, type Register } from '../command.ts';
import { createProgress } from '../progress.ts';
import { renderFacts } from '../table.ts';

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
