import type { OnProgress } from '#shared/report.ts';
import { type Open, printJson, type Register } from '../command.ts';
import { createProgress } from '../progress.ts';
import { renderFacts } from '../table.ts';

/** Contents of a backup, and the key that it lacks. */
type BackupReport = {
  file: string;
  /** RFC 3339. */
  createdAt: string;
  rows: number;
  tables: readonly { table: string; rows: number; sha256: string }[];
  /** The file of the secret key, which is not in the backup; absent: the configuration has the key. */
  secretKeyFile?: string;
};

export type Backup = {
  backUp(request: {
    file: string;
    isForced: boolean;
    onProgress: OnProgress;
  }): Promise<BackupReport>;
};

/** `backup FILE`: copies the store, while the service runs, too. */
export const registerBackup: Register<Open<Backup>> = (command, { actionOf, services }) => {
  const action = actionOf(services);
  command
    .argument('<file>', 'where the backup goes; its folder must exist')
    .option('--force', 'replace FILE when it is there')
    .action(
      action<{ force?: boolean }>(async ({ services, terminal, clock, isJson, args, options }) => {
        const report = await services.backUp({
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

/** A restored store, and the key that it still lacks. */
type RestoreReport = {
  file: string;
  /** Time of the backup. RFC 3339. */
  createdAt: string;
  /** The version of the program that made it. */
  version: string;
  rows: number;
  /** Names of the migrations that it lacked, in order. */
  migrated: readonly string[];
  /** Path where the secret key is missing that the configuration does not have; absent: it is there. */
  missingSecretKeyFile?: string;
};

export type Restore = {
  restore(request: { file: string; onProgress: OnProgress }): Promise<RestoreReport>;
};

/** `restore FILE`: puts a backup in the place of an empty store that nobody has open. */
export const registerRestore: Register<Open<Restore>> = (command, { actionOf, services }) => {
  const action = actionOf(services);
  command.argument('<file>', 'what `trackport backup` made').action(
    action(async ({ services, terminal, clock, isJson, args }) => {
      const onProgress = createProgress({ terminal, clock, isJson });
      const report = await services.restore({ file: args[0] ?? '', onProgress });
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
