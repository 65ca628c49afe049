/**
 * Remarks as GitHub's workflow commands, which become annotations of the lines of a pull request.
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
import path from 'node:path';

import type { ImportFinding } from '#catalog/import/import-finding.ts';

import { printable } from '../../table.ts';

/** One finding as a line; `file` as the repository names it. Without one: about the run as a whole. */
export function renderAnnotation(finding: ImportFinding, file?: string): string {
  const { severity, line, column, code } = finding;
  const properties = Object.entries({ file, line, col: column, title: code })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity} ${properties.join(',')}::${printable(escapeData(textOf(finding)))}`;
}

/** What is said about which part of the version: where something is gone, no place of the file tells. */
export function textOf({ pointer, detail }: ImportFinding): string {
  return pointer === undefined ? detail : `${pointer}: ${detail}`;
}

/** The rules of `@actions/core`: what ends a command, and the sign of the escapes themselves. */
export function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** The same, and what ends a property. A terminal's other control characters have no use in a name. */
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
