import type { Catalog } from '#catalog/index.ts';
import type { ImportOutcome, ImportResult } from '#catalog/import/import-files.ts';

import { CommandFailure, printJson, UsageError } from '../command.ts';
import type { Open, Register, Task } from '../command.ts';
import { listImportFiles, readImportFile } from '../import-folder.ts';
import { createProgress } from '../progress.ts';
import { printable, renderTable, renderWord } from '../table.ts';

/** What the `catalog` commands work on. */
export type CatalogServices = { catalog: Catalog };

type Options = { workspace: string; dryRun?: boolean };
type ImportTask = Task<CatalogServices, Options>;

const WORKSPACE = /^[\x21-\x7e]{1,200}$/;
const outcomes = ['created', 'replaced', 'unchanged', 'failed'] as const;
const colours = { created: 'green', replaced: 'cyan', unchanged: 'gray', failed: 'red' } as const;

/** Adds `catalog import`. */
export const registerCatalog: Register<Open<CatalogServices>> = (
  parent,
  { actionOf, services },
) => {
  const action = actionOf(services);
  parent
    .command('import <path>')
    .description('import OpenAPI and AsyncAPI documents and artifact files as drafts')
    .option('--workspace <name>', 'the workspace to import into', 'default')
    .option('--dry-run', 'say what would be done and change nothing')
    .addHelpText('after', HELP)
    .action(action<Options>(runImport));
};

const HELP = `
PATH is a .yaml, .yml or .json file, or a folder with such files.

An OpenAPI document becomes an artifact of type API, an AsyncAPI document one of type EVENT:
  id       from info.title, else from the file's name
  version  info.version, else 1.0.0
  owner    info.x-owner, else info.contact.name, else "unknown"
Any other file holds the fields of an artifact: id, type, owner, title, and if you like version,
description, source, projectId, groupPath, members, counts, spec.

Everything is imported as a draft. A version with the same content is left alone, a draft with
other content is replaced, and a published version never changes: its file fails. The exit code is
1 when any file failed.`;

async function runImport(task: ImportTask): Promise<void> {
  const { services, actor, args, options } = task;
  if (!WORKSPACE.test(options.workspace))
    throw new UsageError('--workspace has 1 to 200 visible ASCII characters.');
  const paths = new Map(listImportFiles(args[0] ?? '').map(({ shown, path }) => [shown, path]));
  const results = await services.catalog.importFiles(
    { workspaceId: options.workspace, actor },
    {
      files: [...paths.keys()],
      read: async (file) => readImportFile(paths.get(file) ?? file),
      isDryRun: options.dryRun === true,
      onProgress: createProgress(task),
    },
  );
  report(task, results);
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${results.length} failed.`);
}

function report({ isJson, terminal, options }: ImportTask, results: readonly ImportResult[]): void {
  const isDryRun = options.dryRun === true;
  const summary = countOutcomes(results);
  if (isJson) {
    printJson(terminal, {
      workspace: options.workspace,
      dryRun: isDryRun,
      files: results,
      summary,
    });
    return;
  }
  const rows = results.map((result) => renderRow(result, terminal.hasColour));
  terminal.print(renderTable(['file', 'artifact', 'version', 'outcome', 'remark'], rows));
  const counted = outcomes.map((outcome) => `${summary[outcome]} ${outcome}`).join(', ');
  terminal.print(`\n${isDryRun ? 'Nothing was written. It would be: ' : ''}${counted}.`);
}

function countOutcomes(results: readonly ImportResult[]): Record<ImportOutcome, number> {
  const summary = { created: 0, replaced: 0, unchanged: 0, failed: 0 };
  for (const { outcome } of results) summary[outcome] += 1;
  return summary;
}

function renderRow(result: ImportResult, hasColour: boolean): string[] {
  const { file, id = '', version = '', outcome, findings, detail } = result;
  const warning = findings === undefined ? '' : `${findings} findings in the spec`;
  return [
    printable(file),
    printable(id),
    printable(version),
    renderWord(outcome, colours, hasColour),
    printable(detail ?? warning),
  ];
}
