import path from 'node:path';
import type { ImportOutcome } from '#catalog/import/import-draft.ts';
import type { ImportReport, ImportResult } from '#catalog/import/import-files.ts';
import type { ImportFinding } from '#catalog/import/import-finding.ts';
import { printJson, type Terminal } from '../../command.ts';
import { printable, renderTable, renderWord } from '../../table.ts';
import type { ImportSettings } from './import-options.ts';

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
export function printReport(terminal: Terminal, report: ShownReport): void {
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
