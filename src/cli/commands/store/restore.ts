import type { OnProgress } from '#shared/report.ts';
import { type Open, printJson, type Register } from '../../command.ts';
import { createProgress } from '../../progress.ts';
import { renderFacts } from '../../table.ts';

/** What was restored, and what is to be looked at. */
type RestoreReport = {
  file: string;
  /** When the backup was made. RFC 3339. */
  createdAt: string;
  /** The version of the program that made it. */
  version: string;
  rows: number;
  /** Names of the migrations that it lacked, in order. */
  migrated: readonly string[];
  /** Where the secret key is missing that the configuration does not have; absent: it is there. */
  missingSecretKeyFile?: string;
};

export type RestoreServices = {
  restore(request: { file: string; onProgress: OnProgress }): Promise<RestoreReport>;
};

/** `restore FILE`: puts a backup in the place of an empty store that nobody has open. */
export const registerRestore: Register<{ restore: Open<RestoreServices> }> = (
  command,
  { actionOf, services },
) => {
  const action = actionOf(services.restore);
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
