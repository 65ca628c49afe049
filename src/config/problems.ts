import type { z } from 'zod';
import { lookUp } from '#shared/text/json.ts';
import { fold, nearMiss } from '#shared/text/near-miss.ts';
import { allKeyPaths, configKeys, type KeyNode, type KeyPath, nodeAt } from './schema/key-tree.ts';

/** One thing that is wrong with a configuration. No member ever holds a secret. */
export type Problem = {
  /** The key, with dots: `partners.crm-one.secrets[0]`; `--port` or `PORT` for these. */
  path: string;
  found: string;
  allowed: string;
  suggestion?: string;
};

/** A configuration that cannot be used. The message lists every problem, one per line. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    super(
      [
        `${source} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
        ...problems.map((problem) => `  ${renderProblem(problem)}`),
      ].join('\n'),
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** One line: where, what was found, what is allowed, what may have been meant. */
export function renderProblem({ path, found, allowed, suggestion }: Problem): string {
  const hint = suggestion === undefined ? '' : ` (${suggestion})`;
  return `${path === '' ? 'the file' : path}: found ${found}, expected ${allowed}${hint}`;
}

/** `['partners', 'crm', 'secrets', 0]` as `partners.crm.secrets[0]`. */
export function pathText(path: KeyPath): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${part}`))
    .join('');
}

type Findings = {
  /** The configuration as it was given, references resolved. */
  given: unknown;
  /** Path text → `${NAME}` or an environment variable: shown in place of the value. */
  sources: ReadonlyMap<string, string>;
};

/** Zod's refusals as problems. */
export function toProblems(issues: readonly z.core.$ZodIssue[], findings: Findings): Problem[] {
  const problems = issues.flatMap((issue) => toProblem(issue, [], findings));
  // One value can fail several checks that all say the same.
  return problems.filter(
    ({ path, allowed }, at) =>
      problems.findIndex((other) => other.path === path && other.allowed === allowed) === at,
  );
}

function toProblem(issue: z.core.$ZodIssue, prefix: KeyPath, findings: Findings): Problem[] {
  const path = [...prefix, ...(issue.path as KeyPath)];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key));
  if (issue.code === 'invalid_union') {
    const deeper = issue.errors.find((option) => option.length > 0 && option.every(isBelow));
    const stray = issue.errors.find((option) => option.some(isStray));
    const closest = deeper ?? stray;
    if (closest) return closest.flatMap((inner) => toProblem(inner, path, findings));
  }
  const isName = issue.code === 'custom' && issue.params?.['name'] === true;
  const stray = isStray(issue) ? ` ${issue.params?.['stray']}` : '';
  const found = isName ? 'this name' : `${describe(path, findings)}${stray}`;
  const suggestion = isBareSecret(path, findings) ? 'put it in quotation marks' : meant(issue);
  const hint = suggestion !== undefined && { suggestion };
  return [{ path: pathText(path), found, allowed: issue.message, ...hint }];
}

/** A secret with something in it or around it that does not belong to it. */
function isStray(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueCustom {
  return issue.code === 'custom' && issue.params?.['stray'] !== undefined;
}

/** The suggestion of the check itself. */
function meant(issue: z.core.$ZodIssue): string | undefined {
  const given: unknown = issue.code === 'custom' ? issue.params?.['suggestion'] : undefined;
  return typeof given === 'string' ? given : undefined;
}

/** An option of a union that fits the value itself and fails further inside. */
function isBelow(issue: z.core.$ZodIssue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys';
}

function unknownKey(path: KeyPath, key: string): Problem {
  const known = [...(nodeAt(configKeys(), path)?.keys.keys() ?? [])];
  const suggestion = suggestionFor(key, known);
  return {
    path: pathText([...path, key]),
    found: 'an unknown key',
    allowed: `one of ${known.join(', ')}`,
    suggestion,
  };
}

/** A key of this name in another place, else a sibling that is spelt alike or starts with it. */
function suggestionFor(key: string, siblings: readonly string[]): string | undefined {
  const elsewhere = allKeyPaths().filter((path) => path.slice(path.lastIndexOf('.') + 1) === key);
  if (elsewhere.length > 0) return `did you mean ${elsewhere.join(' or ')}?`;
  const sibling =
    nearMiss(key, siblings) ??
    siblings.find((longer) => key.length > 2 && fold(longer).startsWith(fold(key)));
  return sibling === undefined ? undefined : `did you mean ${sibling}?`;
}

const SHOWN_CHARACTERS_MAX = 60;

/**
 * Describes the value at a path, as far as it may be shown. Text is shown only where the schema wants a
 * text that is no secret: a token on a wrong line must not reach the screen.
 */
function describe(path: KeyPath, { given, sources }: Findings): string {
  const value = lookUp(given, path);
  const source = sources.get(pathText(path));
  if (source !== undefined) return value === '' ? `${source}, which is empty` : source;
  if (typeof value === 'object' || value === undefined || value === '') return describeKind(value);
  const node = nodeAt(configKeys(), path);
  if (!node || node.isSecret || hasCredentials(value))
    return `${hiddenKind(value)} that is not shown`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return mayShowText(node) ? JSON.stringify(shorten(value)) : 'a text';
}

/** True for an address with a user, and so perhaps with a password. */
function hasCredentials(value: unknown): boolean {
  return typeof value === 'string' && /\/\/[^/]*@/.test(value);
}

/** A secret of digits alone is a number to YAML. */
function isBareSecret(path: KeyPath, { given }: Findings): boolean {
  const isSecret = nodeAt(configKeys(), path)?.isSecret === true;
  return isSecret && ['number', 'boolean'].includes(typeof lookUp(given, path));
}

function hiddenKind(value: unknown): string {
  if (typeof value === 'boolean') return 'a true or false';
  return typeof value === 'number' ? 'a number' : 'a value';
}

function describeKind(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (value === '') return 'an empty text';
  if (!Array.isArray(value)) return 'keys';
  return value.length === 0 ? 'an empty list' : 'a list';
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}

function mayShowText({ types, keys }: KeyNode): boolean {
  const isScalar = ['string', 'number', 'integer', 'boolean'].some((type) => types.has(type));
  return isScalar && (keys.size === 0 || types.has('string'));
}
