import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { rawNumber } from './json.ts';

export type YamlOptions = {
  /**
   * Numbers keep every digit: whole ones come as `bigint`, others that a double writes otherwise as
   * `rawNumber`. Default false.
   */
  exactNumbers?: boolean;
};

/** A place in a text, both from 1; columns count UTF-16 units, as editors do. */
export type TextPlace = { line: number; column: number };

/** One thing that is wrong with a text of YAML, in the library's words. */
export type YamlFault = TextPlace & { message: string };

/** `line 3, column 1: Tabs are not allowed as indentation`. */
export function renderYamlFault({ line, column, message }: YamlFault): string {
  return `line ${line}, column ${column}: ${message}`;
}

/** More faults of a text are not told. */
const FAULTS_MAX = 100;

/**
 * One document of YAML 1.2 (core) as plain values, whatever version it says it has, with `<<` taking
 * over the members of other maps; or what is wrong with it: one fault a line, without a word of the
 * text. What its aliases stand for is shared, not copied: whoever writes it out has to bound that.
 */
export function readYaml(
  text: string,
  { exactNumbers = false }: YamlOptions = {},
): { value: unknown } | { faults: YamlFault[] } {
  const tooDeep = tooDeepIn(text);
  if (tooDeep) return { faults: [tooDeep] };
  const { document, lines } = parseYaml(text, exactNumbers);
  const faults = faultsIn(document, lines);
  if (faults.length > 0) return { faults };
  keepWrittenNumbers(document, exactNumbers);
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) };
  } catch (error) {
    return { faults: [{ ...placeAt(lines, 0), message: withoutSource((error as Error).message) }] };
  }
}

/** More brackets inside each other are not composed: that takes minutes where a stack is full at last. */
const BRACKETS_MAX = 100;
/** Signs of the lexer between the lexemes: they stand in no text. */
const CONTROLS = new Set(['\u0002', '\u0018', '\u001f']);

function tooDeepIn(text: string): YamlFault | undefined {
  let [open, at] = [0, 0];
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') open += 1;
    else if (lexeme === ']' || lexeme === '}') open -= 1;
    if (open > BRACKETS_MAX) {
      const before = text.slice(0, at).split('\n');
      const column = (before.at(-1)?.length ?? 0) + 1;
      return { line: before.length, column, message: 'Too many levels' };
    }
    if (!CONTROLS.has(lexeme)) at += lexeme.length;
  }
  return undefined;
}

type YamlDocument = { document: Document.Parsed; lines: LineCounter };

/** A text as the nodes of its document, with all that the library finds wrong with it. */
export function parseYaml(text: string, intAsBigInt = false): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    intAsBigInt,
    merge: true,
    // `%YAML 1.1` and tags such as `!!set` would make dates and words something else.
    schema: 'core',
    resolveKnownTags: false,
    // It compares each name of a map with each other.
    uniqueKeys: false,
    prettyErrors: false,
    // It would warn of some keys on standard error, and quote them.
    logLevel: 'error',
  });
  return { document, lines };
}

/** The place at an offset. */
export function placeAt(lines: LineCounter, at: number): TextPlace {
  const { line, col } = lines.linePos(at);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Takes note of a fault at an offset; the first one of a line counts. */
type NoteFault = (at: number, message: string) => void;

const TOO_DEEP = 'Maximum call stack';

/** Faults of a text of YAML from its first line to its last, one a line. */
function faultsIn(document: Document.Parsed, lines: LineCounter): YamlFault[] {
  const faults = new Map<number, YamlFault>();
  const note: NoteFault = (at, message) => {
    const place = placeAt(lines, at);
    if (!faults.has(place.line)) faults.set(place.line, { ...place, message });
  };
  const { errors, warnings } = document;
  const tooDeep = errors.find(({ message }) => message.startsWith(TOO_DEEP));
  // Behind that place everything looks as if it broke off.
  if (tooDeep) note(tooDeep.pos[0], 'Too many levels');
  else {
    for (const { pos, message } of [...errors, ...warnings]) note(pos[0], withoutSource(message));
    noteNames(document, note);
  }
  return [...faults.values()]
    .toSorted((left, right) => left.line - right.line)
    .slice(0, FAULTS_MAX);
}

/** Some messages end with what stands there, which may be a secret. */
function withoutSource(message: string): string {
  return message.replace(/(?:(?<=\w): | [%\\]|;).*$/s, '');
}

/** Names that stand twice in one map, or are none, and aliases that stand for nothing, or for what they are in. */
function noteNames(document: Document, note: NoteFault): void {
  const anchors = new Set<string>();
  visit(document, {
    Node: (_key, node, path) => {
      if (isAlias(node)) noteAlias(node, { anchors, path, note });
      else if (node.anchor !== undefined) anchors.add(node.anchor);
      if (isMap(node)) noteKeys(node, document, note);
    },
  });
}

type Reading = { anchors: ReadonlySet<string>; path: readonly unknown[]; note: NoteFault };

function noteAlias(alias: Alias, { anchors, path, note }: Reading): void {
  const isWithin = path.some(
    (node) => isNode(node) && !isAlias(node) && node.anchor === alias.source,
  );
  if (isWithin || !anchors.has(alias.source)) note(startOf(alias), 'Unresolved alias');
}

/** The library takes `200` and `"200"` for two names, and makes a text of a list. */
function noteKeys({ items }: YAMLMap, document: Document, note: NoteFault): void {
  const names = new Set<string>();
  for (const { key } of items) {
    const scalar = isAlias(key) ? key.resolve(document) : key;
    if (isScalar(scalar) && typeof scalar.value === 'symbol') continue; // `<<` may come more than once
    const name = isScalar(scalar) ? nameOf(scalar) : undefined;
    if (name === undefined) note(startOf(key as Node), 'Map keys must be texts');
    else if (names.has(name)) note(startOf(key as Node), 'Map keys must be unique');
    else names.add(name);
  }
}

/** The name of a member is text whatever it looks like: a number stays as it is written. */
function nameOf({ value, source }: Scalar): string {
  if (isNumber(value)) return source ?? String(value);
  return String((value as string | boolean | null) ?? '');
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function keepWrittenNumbers(document: Document, isExact: boolean): void {
  visit(document, {
    Scalar: (place, scalar) => {
      const { value, source = '' } = scalar;
      if (!isNumber(value)) return;
      if (place === 'key') scalar.value = nameOf(scalar);
      else if (isExact && typeof value === 'number' && String(value) !== source)
        if (JSON_NUMBER.test(source)) scalar.value = rawNumber(source);
    },
  });
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function startOf({ range }: Node): number {
  return range?.[0] ?? 0;
}
