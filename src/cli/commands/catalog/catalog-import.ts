import path from 'node:path';
import type { Command } from 'commander';
import type { ImportOutcome, SpecChecks } from '#catalog/import/import-draft.ts';
import { importFiles, type ImportReport, type ImportResult } from '#catalog/import/import-files.ts';
import {
  type ImportServer,
  type ImportTarget,
  TargetFailure,
  type TokenSource,
} from '#catalog/import/import-target.ts';
import type { Clock } from '#shared/clock.ts';
import type { ImportFinding } from '#catalog/import/import-finding.ts';
import {
  CommandFailure,
  type ConfigOptions,
  printJson,
  type Register,
  type RunContext,
  type Terminal,
  UsageError,
} from '../../command.ts';
import { createProgress } from '../../progress.ts';
import { printable, renderTable, renderWord } from '../../table.ts';
import { createServerTarget } from './server-target.ts';
import {
  bundleFile,
  type FoundFile,
  listImportFiles,
  readImportFile,
  withIds,
} from './import-folder.ts';
import {
  addImportOptions,
  type ImportOptions,
  type ImportSettings,
  readImportSettings,
  readServer,
} from './import-options.ts';

/** Adds `catalog import`. */
export const registerCatalog: Register = (parent, context) => {
  const command = parent
    .command('import <path>')
    .description('import OpenAPI and AsyncAPI documents and artifact files');
  addImportOptions(command)
    .addHelpText('after', HELP)
    .action(async (_path: string, _options: unknown, self: Command) => {
      const { createSpecThreads } = await import('#adapters/threads/spec-threads.ts');
      await importByCommand(context, self, createSpecThreads(context));
    });
};

const HELP = `
PATH is a .yaml, .yml or .json file, or a folder with such files.

An OpenAPI document becomes an artifact of type API, an AsyncAPI document one of
type EVENT:
  id       --id, else from info.title, else from the file's name
  version  info.version without build metadata (+…), else 1.0.0
  owner    info.x-owner, else info.contact.name, else "unknown"
An artifact file holds the fields of an artifact: id, type, owner, title, and if
you like version, description, source, projectId, groupPath, members, counts,
spec. Other documents in a folder are passed over; a file that holds none, or
several, fails: name it in --exclude. What a document refers to by a relative
$ref, in files of the folder, is taken into it.

Everything is imported as a draft. A version with the same content is left
alone, a draft with other content is replaced, and a published version never
changes: its file fails. With --publish drafts are published then, under the
rules of the catalog. The exit code is 1 when any file failed.

Who comes to the server is said by the variable TRACKPORT_TOKEN, or by --issuer
and --client-id with the variable TRACKPORT_CLIENT_SECRET; the workspace is the
token's. Specs are judged on this machine.

Examples:
  trackport catalog import ./specs --server https://trackport.example.com
  trackport catalog import orders.yaml --id orders-v2 \\
    --server https://trackport.example.com
  trackport catalog import ./specs --check --format github \\
    --server https://trackport.example.com
  trackport catalog import ./specs --publish \\
    --server https://trackport.example.com \\
    --issuer https://id.example.com --client-id ci`;

type Context = Pick<RunContext, 'terminal' | 'clock' | 'environment'>;

/** Specs are judged on this machine, by `judge`. */
export async function importByCommand(
  context: Context,
  command: Command,
  judge: SpecChecks,
): Promise<void> {
  const { json, config } = command.optsWithGlobals<ConfigOptions>();
  const options = command.opts<ImportOptions>();
  const settings = readImportSettings(options, json === true);
  const { server, credential } = readServer(options, context.environment, settings.work);
  if (config !== undefined)
    throw new UsageError('--config does not go with catalog import: nothing of it would be used.');
  const files = withIds(listImportFiles(command.args[0] ?? '', options.exclude), settings.ids);
  const target = createServerTarget(server, await tokensOf(credential, context.clock));
  await run(context, { files, settings, server, importer: { judge, target } });
}

/** The given token; or those of a client, and only then is loaded what asks an issuer. */
async function tokensOf(
  credential: ImportServer['credential'],
  clock: Clock,
): Promise<TokenSource> {
  if (credential.kind === 'token') return { token: async () => credential.token.reveal() };
  const { createMachineTokens } = await import('#adapters/openid-client/machine-tokens.ts');
  return createMachineTokens(credential, clock);
}

type Run = {
  files: FoundFile[];
  settings: ImportSettings;
  server: string;
  importer: { judge: SpecChecks; target: ImportTarget };
};

async function run(context: Context, { files, settings, server, importer }: Run): Promise<void> {
  const { terminal, environment } = context;
  const found = new Map(files.map((file) => [file.shown, file]));
  const foundAs = (shown: string): FoundFile => found.get(shown) ?? { shown, path: shown };
  const report = await importFiles(importer.judge, importer.target, {
    files: [...found.keys()],
    read: async (file) => ({
      ...readImportFile(foundAs(file).path),
      id: foundAs(file).id,
      bundle: (document) => bundleFile(document, foundAs(file)),
    }),
    work: settings.work,
    acceptsBreaking: settings.acceptsBreaking,
    onProgress: createProgress({ ...context, isJson: settings.format === 'json' }),
  });
  const root = environment['GITHUB_WORKSPACE'] || process.cwd();
  printReport(terminal, {
    ...report,
    settings,
    server,
    pathOf: (file) => repositoryPath(foundAs(file).path, root),
  });
  refuseFailure(terminal, report, { settings, total: files.length });
}

/** @throws the failure that stopped the import, or that files failed */
function refuseFailure(
  terminal: Terminal,
  { results, stoppedBy }: ImportReport,
  { settings, total }: { settings: ImportSettings; total: number },
): void {
  if (stoppedBy instanceof TargetFailure) {
    const done = `${results.length} of ${total} files were done; run it again for the rest.`;
    const detail = `${stoppedBy.message}${results.length > 0 ? ` ${done}` : ''}`;
    if (settings.format === 'github')
      terminal.print(renderAnnotation({ severity: 'error', code: 'stopped', detail }));
    throw new CommandFailure(detail, { cause: stoppedBy });
  }
  if (stoppedBy !== undefined) throw stoppedBy as Error;
  if (results.every(({ outcome }) => outcome === 'skipped'))
    throw new CommandFailure('No file is an OpenAPI or AsyncAPI document or an artifact.');
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${results.length} failed.`);
}

const colours = {
  created: 'green',
  replaced: 'cyan',
  published: 'green',
  unchanged: 'gray',
  skipped: 'gray',
  failed: 'red',
} as const;

type ShownReport = ImportReport & {
  settings: ImportSettings;
  /** The server's address. */
  server: string;
  /** The path of a file from the root of the checkout. */
  pathOf: (file: string) => string;
};

/** Prints what became of the files, as the settings want it shown. */
function printReport(terminal: Terminal, report: ShownReport): void {
  if (report.settings.format === 'json') return printJson(terminal, toJson(report));
  if (report.results.length === 0) return;
  if (report.settings.format === 'github') printAnnotations(terminal, report);
  else printTable(terminal, report);
  terminal.print(summaryOf(report));
}

function toJson({ settings, server, results }: ShownReport) {
  const { work } = settings;
  return {
    server,
    dryRun: work === 'plan',
    ...(work === 'check' && { check: true }),
    ...(work === 'publish' && { publish: true }),
    files: results,
    summary: Object.fromEntries(countOutcomes(settings, results)),
  };
}

function countOutcomes(
  { work }: ImportSettings,
  results: readonly ImportResult[],
): [ImportOutcome, number][] {
  const published = work === 'publish' ? (['published'] as const) : [];
  const skipped = results.some(({ outcome }) => outcome === 'skipped')
    ? (['skipped'] as const)
    : [];
  const outcomes = [
    'created',
    'replaced',
    ...published,
    'unchanged',
    ...skipped,
    'failed',
  ] as const;
  return outcomes.map((outcome) => [
    outcome,
    results.filter((result) => result.outcome === outcome).length,
  ]);
}

function summaryOf({ settings, results }: ShownReport): string {
  const counted = countOutcomes(settings, results).map(([outcome, count]) => `${count} ${outcome}`);
  const isUnwritten = settings.work === 'plan' || settings.work === 'check';
  return `${isUnwritten ? 'Nothing was written. It would be: ' : ''}${counted.join(', ')}.`;
}

/** No line of these begins with a text from outside, which could be a command itself. */
function printAnnotations(terminal: Terminal, { results, pathOf }: ShownReport): void {
  for (const { file, findings = [] } of results)
    for (const finding of findings) terminal.print(renderAnnotation(finding, pathOf(file)));
}

function printTable(terminal: Terminal, { results }: ShownReport): void {
  const rows = results.map((result) => renderRow(result, terminal.hasColour));
  terminal.print(renderTable(['file', 'artifact', 'version', 'outcome', 'remark'], rows));
  const lines = results.flatMap(renderFindings);
  if (lines.length > 0) terminal.print(['', ...lines].join('\n'));
  terminal.print('');
}

function renderRow(result: ImportResult, hasColour: boolean): string[] {
  const { file, id = '', version = '', outcome, findings = [], detail } = result;
  const count = findings.length;
  const warning = count === 0 ? '' : `${count} finding${count === 1 ? '' : 's'} in the spec`;
  return [
    printable(file),
    printable(id),
    printable(version),
    renderWord(outcome, colours[outcome], hasColour),
    printable(detail ?? warning),
  ];
}

/** Repeats nothing that the table says already. */
function renderFindings({ file, findings = [], detail: said }: ImportResult): string[] {
  return findings
    .filter(({ line, detail }) => line !== undefined || detail !== said)
    .map((finding) => renderFinding(file, finding));
}

/** As compilers write it, for editors that open such places. */
function renderFinding(file: string, finding: ImportFinding): string {
  const { line, column, severity, code } = finding;
  const place = line === undefined ? '' : `:${line}:${column}`;
  return `${printable(file)}${place}: ${severity}: ${printable(sentenceOf(finding))} [${printable(code)}]`;
}

/**
 * One finding as one of GitHub's workflow commands, which become annotations of the lines of a pull request;
 * `file` as the repository names it. Without one: about the run as a whole.
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function renderAnnotation(finding: ImportFinding, file?: string): string {
  const { severity, line, column, code } = finding;
  const properties = Object.entries({ file, line, col: column, title: code })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity} ${properties.join(',')}::${printable(escapeData(sentenceOf(finding)))}`;
}

/** Names the part of the version: where something is gone, no place of the file tells. */
function sentenceOf({ pointer, detail }: ImportFinding): string {
  return pointer === undefined ? detail : `${pointer}: ${detail}`;
}

/** The rules of `@actions/core`: what ends a command, and the sign of the escapes themselves. */
export function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Besides, what ends a property. A terminal's other control characters have no use in a name. */
export function escapeProperty(text: string): string {
  const escaped = escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return escaped.replaceAll(/\p{Cc}/gu, '?');
}

/** A file below the root of the checkout, with slashes; one beside it keeps its whole path. */
export function repositoryPath(file: string, root: string): string {
  const full = path.resolve(file);
  const below = path.relative(root, full);
  const isBelow = below !== '' && below.split(path.sep)[0] !== '..' && !path.isAbsolute(below);
  return (isBelow ? below : full).split(path.sep).join('/');
}
