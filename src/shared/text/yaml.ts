import { isAlias, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { Document } from 'yaml';

import { rawNumber } from './raw-number.ts';

/** One thing that is wrong with a text of YAML: where, what is there, and what to write instead. */
export type YamlFault = { line: number; column: number; found: string; wanted: string };

export type YamlOptions = {
  /** `<<` takes over the keys of another map. Default false. */
  merge?: boolean;
  /**
   * Numbers keep every digit: whole ones come as `bigint`, others that a double writes otherwise as
   * `rawNumber`. Default false.
   */
  exactNumbers?: boolean;
};

/** More are refused, so that none can explode. */
const ALIASES_MAX = 100;

/**
 * One document of YAML 1.2 (core) as plain values, or all that is wrong with it: one fault a line, in
 * words of our own, with names of keys and never a value.
 */
export function readYaml(
  text: string,
  { merge = false, exactNumbers = false }: YamlOptions = {},
): { value: unknown } | { faults: YamlFault[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    merge,
    intAsBigInt: exactNumbers,
  });
  const source: Source = { text, document, lines };
  const found = [
    ...[...document.errors, ...document.warnings].map((error) => describe(source, error)),
    ...badAliases(source),
  ];
  const faults = found.filter(({ line }, at) => found.findIndex((one) => one.line === line) === at);
  if (faults.length > 0) return { faults };
  if (exactNumbers) keepWrittenNumbers(document);
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) };
  } catch {
    return { faults: [{ ...placeOf(source, 0), ...badReferences }] };
  }
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Values only: the name of a member is text whatever it looks like. */
function keepWrittenNumbers(document: Document): void {
  visit(document, {
    Scalar: (place, scalar) => {
      const { value, source = '' } = scalar;
      if (place === 'key' || typeof value !== 'number' || String(value) === source) return;
      if (JSON_NUMBER.test(source)) scalar.value = rawNumber(source);
    },
  });
}

/** `line 3, column 1: found a tab, expected spaces`. */
export function renderYamlFault({ line, column, found, wanted }: YamlFault): string {
  return `line ${line}, column ${column}: found ${found}, expected ${wanted}`;
}

type Source = { text: string; document: Document; lines: LineCounter };
type Words = Pick<YamlFault, 'found' | 'wanted'>;
type ParseError = Document['errors'][number] | Document['warnings'][number];

const badReferences: Words = {
  found: 'a merge (<<) of something without keys, or too many aliases (*)',
  wanted: 'merges of maps alone, and each alias for something small',
};

const key = 'name: value, with a blank behind the colon, on a line of its own';
const quoted = 'quotation marks around a text that';

/** What people run into, by the parser's code. */
const words: Partial<Record<ParseError['code'], Words>> = {
  TAB_AS_INDENT: { found: 'a tab', wanted: 'spaces: YAML takes no tabs at the start of a line' },
  MULTIPLE_DOCS: { found: 'a second document (---)', wanted: 'one document' },
  BAD_INDENT: {
    found: 'a line that starts in another column than its neighbours',
    wanted: 'the same column, or the ] or } that is missing before it',
  },
  BAD_DQ_ESCAPE: {
    found: 'a \\ that begins no escape',
    wanted: "\\\\ in its place, or single quotation marks ('…') around the text",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    found: 'a second key on the same line',
    wanted: `${quoted} has a colon and a blank in it, or ${key}`,
  },
  MULTILINE_IMPLICIT_KEY: { found: 'a line without a colon and a blank', wanted: key },
  BLOCK_IN_FLOW: { found: 'indented lines between [ ] or { }', wanted: 'commas between them' },
  TAG_RESOLVE_FAILED: { found: 'a tag (!)', wanted: `${quoted} begins with !` },
  MULTIPLE_TAGS: { found: 'a second tag (!)', wanted: `${quoted} begins with !` },
  MULTIPLE_ANCHORS: { found: 'a second anchor (&)', wanted: `${quoted} begins with &` },
  ALIAS_PROPS: { found: 'an alias (*) with an anchor or a tag', wanted: 'the alias alone' },
  BAD_DIRECTIVE: { found: 'a directive (%)', wanted: 'no line that begins with %' },
  KEY_OVER_1024_CHARS: { found: 'a key of more than 1024 characters', wanted: 'a shorter one' },
};

const lostAlias: Words = {
  found: 'an alias (*) of nothing',
  wanted: `its anchor (&) before it, or ${quoted} begins with *`,
};

const ownAlias: Words = {
  found: 'an alias (*) of what it stands in',
  wanted: 'an anchor (&) that ends before it',
};

const unclosed: Words = {
  found: 'the end of the file',
  wanted: 'the ] or } that closes what is open',
};

function isAtEnd({ text }: Source, at: number): boolean {
  return text.slice(at).trim() === '';
}

function describe(source: Source, { code, pos, message }: ParseError): YamlFault {
  const [at] = pos;
  const place = placeOf(source, at);
  if (code === 'DUPLICATE_KEY') return { ...place, ...describeRepeated(source, at) };
  if (code === 'MISSING_CHAR') return { ...place, ...describeMissing(message) };
  if (code === 'BAD_INDENT' && isAtEnd(source, at)) return { ...place, ...unclosed };
  const known = words[code];
  if (known) return { ...place, ...known };
  const sign = signAt(source, at);
  return { ...place, found: sign, wanted: `a value here, or ${quoted} has such a sign in it` };
}

/** Which key stands twice, and where it stood first. */
function describeRepeated(source: Source, at: number): Words {
  let words: Words = { found: 'a key for the second time', wanted: 'each key once' };
  visit(source.document, {
    Map: (_key, { items }) => {
      const second = items.find((pair) => startOf(pair.key) === at);
      if (!second) return undefined;
      const name = nameOf(second.key);
      const first = items.find((pair) => nameOf(pair.key) === name);
      const { line } = placeOf(source, startOf(first?.key) ?? at);
      words = {
        found: `the key ${name} again`,
        wanted: `each key once: it stands in line ${line}`,
      };
      return visit.BREAK;
    },
  });
  return words;
}

/** The parser has one code for both; its text only tells them apart. */
function describeMissing(message: string): Words {
  return message.includes('quote')
    ? { found: 'the end of a text in quotation marks', wanted: 'the quotation mark that closes it' }
    : { found: 'a line without a colon and a blank', wanted: key };
}

/** A sign is shown, a letter is not: it may be that of a secret. */
function signAt({ text }: Source, at: number): string {
  const sign = text.charAt(at);
  return /^[[\]{},:|>@`%&*!#?"'-]$/.test(sign) ? `a ${sign}` : 'more text';
}

/** An alias of what it stands in would make a value without an end. */
function badAliases(source: Source): YamlFault[] {
  const faults: YamlFault[] = [];
  visit(source.document, {
    Alias: (_key, alias, path) => {
      if (!isAlias(alias)) return;
      const target = alias.resolve(source.document);
      if (target && !path.includes(target)) return;
      const place = placeOf(source, startOf(alias) ?? 0);
      faults.push({ ...place, ...(target ? ownAlias : lostAlias) });
    },
  });
  return faults;
}

function placeOf({ lines }: Source, at: number): Pick<YamlFault, 'line' | 'column'> {
  const { line, col } = lines.linePos(at);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function startOf(node: unknown): number | undefined {
  return isPair(node) ? startOf(node.key) : (node as { range?: [number] } | null)?.range?.[0];
}

const NAME_CHARACTERS_MAX = 64;

function nameOf(node: unknown): string {
  const name = isScalar(node) ? String(node.value) : '';
  return name.replaceAll(/\p{Cc}/gu, ' ').slice(0, NAME_CHARACTERS_MAX);
}
