import { readFileSync } from 'node:fs';
import { systemCodeOf } from '#shared/errors.ts';
import { pathText, type Problem } from './problems.ts';
import type { KeyPath } from './schema/key-tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Interpolated = {
  value: unknown;
  /** Path text → the references that stood there. */
  sources: Map<string, string>;
  problems: Problem[];
};

const REFERENCE = /\$(\$?)\{([^}]*)\}/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * Every text of the tree with `${NAME}` and `${file:PATH}` replaced; `$${` stands for `${`. Paths
 * are taken from the working directory. A reference to something missing is a problem.
 */
export function interpolate(tree: unknown, environment: Environment): Interpolated {
  const sources = new Map<string, string>();
  const problems: Problem[] = [];

  const visit = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') return replace(value, path);
    if (Array.isArray(value)) return value.map((item, at) => visit(item, [...path, at]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key])]),
    );
  };

  const replace = (text: string, path: KeyPath): string => {
    const references: string[] = [];
    const replaced = text.replaceAll(REFERENCE, (whole, escape: string, name: string) => {
      if (escape) return whole.slice(1);
      references.push(whole);
      const found = resolve(name, environment);
      if (found.kind === 'value') return found.value;
      problems.push({ path: pathText(path), found: whole, allowed: found.allowed });
      return whole;
    });
    if (references.length > 0) sources.set(pathText(path), references.join(' '));
    return replaced;
  };

  return { value: visit(tree, []), sources, problems };
}

type Resolved = { kind: 'value'; value: string } | { kind: 'missing'; allowed: string };

function resolve(name: string, environment: Environment): Resolved {
  if (name.startsWith('file:')) return readReference(name.slice('file:'.length));
  if (!VARIABLE_NAME.test(name))
    return { kind: 'missing', allowed: '${NAME} or ${file:PATH} (write $${ for a plain ${)' };
  const value = environment[name];
  return value === undefined
    ? { kind: 'missing', allowed: `the environment variable ${name} to be set` }
    : { kind: 'value', value };
}

function readReference(path: string): Resolved {
  const read = readFileText(path);
  return 'text' in read
    ? { kind: 'value', value: read.text.trim() }
    : { kind: 'missing', allowed: read.expected };
}

/** A file's text, else what is expected in its place. */
type FileText = { text: string } | { expected: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a file without its byte order mark. Bytes that are no UTF-8 are refused: read as
 * U+FFFD they would make another label or another secret of what was meant.
 */
export function readFileText(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown failure';
    const reason = code === 'ENOENT' ? 'ENOENT: there is none' : code;
    return { expected: `a file that can be read (${reason})` };
  }
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { expected: 'text in UTF-8, which the bytes of the file are not' };
  }
}
