import { isAlias, isScalar, visit } from 'yaml';
import type { LineCounter, Node, Pair, YAMLError } from 'yaml';
import { bindAlias } from './yaml-aliases.ts';
import { placeOf, YAML_DEPTH_MAX } from './yaml-document.ts';
import type { YamlDocument } from './yaml-document.ts';

/** One thing that is wrong with a text of YAML: where, what is there, and what to write instead. */
export type YamlFault = { line: number; column: number; found: string; wanted: string };

/** All that is wrong with a text of YAML, one fault a line, from its first line to its last. */
export function faultsIn(text: string, parsed: YamlDocument): YamlFault[] {
  const { lines, tooDeepAt } = parsed;
  const faults = new Map<number, YamlFault>();
  for (const fault of allFaultsIn({ ...parsed, text, end: text.trimEnd().length }))
    if (!faults.has(fault.line)) faults.set(fault.line, fault);
  if (faults.size === 0 && tooDeepAt !== undefined)
    return [{ ...placeOf(lines, tooDeepAt), ...tooDeep }];
  return [...faults.values()].toSorted((left, right) => left.line - right.line);
}

function* allFaultsIn(source: Source): Generator<YamlFault> {
  const { document, lines, secondAt, tooDeepAt = Infinity } = source;
  for (const error of [...document.errors, ...document.warnings])
    // Behind that place everything looks as if it broke off.
    if (error.pos[0] < tooDeepAt) yield describe(source, error);
  if (secondAt !== undefined) yield { ...placeOf(lines, secondAt), ...secondDocument };
  yield* repeatedKeys(source);
  yield* badAliases(source);
}

type Source = YamlDocument & {
  text: string;
  /** Behind its last character that is no blank. */
  end: number;
};
type Words = Pick<YamlFault, 'found' | 'wanted'>;

const tooDeep: Words = {
  found: `more than ${YAML_DEPTH_MAX} levels`,
  wanted: 'lists and maps that nest less deep',
};

const secondDocument: Words = { found: 'a second document (---)', wanted: 'one document' };

const key = 'name: value, with a blank behind the colon, on a line of its own';
const quoted = 'quotation marks around a text that';

/** What people run into, by the parser's code. */
const words: Partial<Record<YAMLError['code'], Words>> = {
  TAB_AS_INDENT: { found: 'a tab', wanted: 'spaces: YAML takes no tabs at the start of a line' },
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

function describe(source: Source, { code, pos, message }: YAMLError): YamlFault {
  const [at] = pos;
  const place = placeOf(source.lines, at);
  if (code === 'MISSING_CHAR') return { ...place, ...describeMissing(message) };
  if (code === 'BAD_INDENT' && at >= source.end) return { ...place, ...unclosed };
  const known = words[code];
  if (known) return { ...place, ...known };
  const sign = signAt(source, at);
  return { ...place, found: sign, wanted: `a value here, or ${quoted} has such a sign in it` };
}

/** Which keys stand twice in a map, and where they stood first: `200` and `"200"` are one name of an object. */
function repeatedKeys({ document, lines }: Source): YamlFault[] {
  const faults: YamlFault[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Map<string, Pair>();
      for (const pair of items) {
        const name = isScalar<Key>(pair.key) ? memberNameOf(pair.key.value) : undefined;
        if (name === undefined) continue;
        const first = seen.get(name);
        if (first) faults.push(repeatedKey(lines, first, pair));
        else seen.set(name, pair);
      }
    },
  });
  return faults;
}

type Key = string | number | bigint | boolean | symbol | null;

/** Undefined for `<<` where it merges: a symbol, which may come more than once. */
function memberNameOf(key: Key): string | undefined {
  if (typeof key === 'symbol') return undefined;
  return key === null ? '' : String(key);
}

function repeatedKey(lines: LineCounter, first: Pair, second: Pair): YamlFault {
  const { line } = placeOf(lines, startOf(first.key));
  return {
    ...placeOf(lines, startOf(second.key)),
    found: `the key ${nameOf(second.key)} again`,
    wanted: `each key once: it stands in line ${line}`,
  };
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

/** An alias of what it stands in would make a value without an end. All others are bound. */
function badAliases({ document, lines }: Source): YamlFault[] {
  const faults: YamlFault[] = [];
  // Each alias could find its anchor itself, but walks through the whole document for it.
  const anchors = new Map<string, Node>();
  visit(document, {
    Node: (_key, node, path) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (target && !path.includes(target)) return bindAlias(node, target);
      faults.push({ ...placeOf(lines, startOf(node)), ...(target ? ownAlias : lostAlias) });
    },
  });
  return faults;
}

function startOf(node: unknown): number {
  return (node as { range?: [number] } | null)?.range?.[0] ?? 0;
}

const NAME_CHARACTERS_MAX = 64;

function nameOf(node: unknown): string {
  const name = isScalar(node) ? String(node.value) : '';
  return name.replaceAll(/\p{Cc}/gu, ' ').slice(0, NAME_CHARACTERS_MAX);
}
