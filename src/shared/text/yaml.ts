import {
  Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml';
import { rawNumber } from './json.ts';

export type YamlOptions = {
  /** `<<` takes over the keys of another map. Default false. */
  merge?: boolean;
  /**
   * Numbers keep every digit: whole ones come as `bigint`, others that a double writes otherwise as
   * `rawNumber`. Default false.
   */
  exactNumbers?: boolean;
};

/**
 * One document of YAML 1.2 (core) as plain values, or all that is wrong with it: one fault a line, without
 * a word of the text. What nests deeper than 65 levels is read no further.
 */
export function readYaml(
  text: string,
  { merge = false, exactNumbers = false }: YamlOptions = {},
): { value: unknown } | { faults: YamlFault[] } {
  const parsed = parseYaml(text, { merge, intAsBigInt: exactNumbers });
  const faults = faultsIn(parsed);
  if (faults.length > 0) return { faults };
  const { document, lines } = parsed;
  if (exactNumbers) keepWrittenNumbers(document);
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) };
  } catch (error) {
    return { faults: [{ ...placeOf(lines, 0), message: withoutSource((error as Error).message) }] };
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

/** `line 3, column 1: Tabs are not allowed as indentation`. */
export function renderYamlFault({ line, column, message }: YamlFault): string {
  return `line ${line}, column ${column}: ${message}`;
}

/** As deep as JSON may nest, and one level more for what a spec stands in. */
const YAML_DEPTH_MAX = 65;

/** A place in a text, both from 1; columns count UTF-16 units, as editors do. */
export type TextPlace = { line: number; column: number };

type YamlDocument = {
  document: Document.Parsed;
  lines: LineCounter;
  /** Where the next document begins, in a text that has several. */
  secondAt?: number;
  /** Where more than 65 levels nest: from here on the text was not read. */
  tooDeepAt?: number;
};

/**
 * The first document of a text, with all that the library finds wrong with it but names that stand twice.
 * It is the library's `parseDocument` without what takes it seconds: composing what nests until its stack
 * is full, and comparing each name of a map with each other.
 */
export function parseYaml(
  text: string,
  options: { merge?: boolean; intAsBigInt?: boolean } = {},
): YamlDocument {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  // It would warn of some keys on standard error, and quote them.
  const composer = new Composer({ ...options, uniqueKeys: false, logLevel: 'error' });
  const documents: Document.Parsed[] = [];
  const compose = (token: CST.Token): void => void documents.push(...composer.next(token));
  let tooDeepAt: number | undefined;
  for (const lexeme of new Lexer().lex(text)) {
    parser.next(lexeme).forEach(compose);
    tooDeepAt = tooDeepIn(parser);
    if (tooDeepAt !== undefined) break;
  }
  parser.end().forEach(compose);
  documents.push(...composer.end(true, parser.offset));
  const [document, second] = documents;
  if (!document) throw new Error('the composer made no document');
  return { document, lines, secondAt: second?.range[0], tooDeepAt };
}

/** Where the collection begins that is one too many inside of others; undefined while there is none. */
function tooDeepIn({ stack }: Parser): number | undefined {
  if (stack.length <= YAML_DEPTH_MAX) return undefined;
  return stack.filter((token) => CST.isCollection(token))[YAML_DEPTH_MAX]?.offset;
}

/** The place of an offset. */
export function placeOf(lines: LineCounter, at: number): TextPlace {
  const { line, col } = lines.linePos(at);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** One thing that is wrong with a text of YAML, in the library's words. */
export type YamlFault = TextPlace & { message: string };

/** Names and values of a document with those that its aliases stand for: two for each value that a spec may have. */
const VALUES_MAX = 1_000_000;

/** Takes note of a fault at an offset; the first one of a line counts. */
type NoteFault = (at: number, message: string) => void;

/** What a node has with its aliases written out. */
type Extent = { values: number; depth: number };

/** All that is wrong with a text of YAML, one fault a line, from its first line to its last. Binds its aliases. */
export function faultsIn(parsed: YamlDocument): YamlFault[] {
  const { document, lines, secondAt, tooDeepAt = Infinity } = parsed;
  const faults = new Map<number, YamlFault>();
  const note: NoteFault = (at, message) => {
    const place = placeOf(lines, at);
    if (!faults.has(place.line)) faults.set(place.line, { ...place, message });
  };
  for (const { pos, message } of [...document.errors, ...document.warnings])
    // Behind that place everything looks as if it broke off.
    if (pos[0] < tooDeepAt) note(pos[0], withoutSource(message));
  if (secondAt !== undefined) note(secondAt, 'Source contains multiple documents');
  const { values, depth } = walk(document.contents, { note, anchored: new Map() });
  const isBounded = values <= VALUES_MAX && depth <= YAML_DEPTH_MAX;
  if (faults.size === 0 && tooDeepAt < Infinity)
    note(tooDeepAt, `More than ${YAML_DEPTH_MAX} levels`);
  else if (faults.size === 0 && !isBounded) note(0, 'Excessive alias count');
  return [...faults.values()].toSorted((left, right) => left.line - right.line);
}

/** Some messages end with what stands there, which may be a secret. */
function withoutSource(message: string): string {
  return message.replace(/(?:(?<=\w): | [%\\]).*$/s, '');
}

/** `anchored` holds the last node of each anchor so far, with its extent once its end is reached. */
type Walk = { note: NoteFault; anchored: Map<string, { node: Node; extent?: Extent }> };

function walk(node: unknown, state: Walk): Extent {
  if (isAlias(node)) return extentOfAlias(node, state);
  if (isMap(node)) noteRepeatedKeys(node, state.note);
  const anchored: { node: Node; extent?: Extent } | undefined = isNode(node) ? { node } : undefined;
  if (anchored?.node.anchor !== undefined) state.anchored.set(anchored.node.anchor, anchored);
  const below = isPair(node) ? [node.key, node.value] : isCollection(node) ? node.items : [];
  const extent = { values: 1, depth: 0 };
  for (const one of below) {
    const { values, depth } = walk(one, state);
    extent.values += values;
    extent.depth = Math.max(extent.depth, depth);
  }
  if (isCollection(node)) extent.depth += 1;
  if (anchored) anchored.extent = extent;
  return extent;
}

/** An alias of what it stands in would make a value without an end. */
function extentOfAlias(alias: Alias, { note, anchored }: Walk): Extent {
  const target = anchored.get(alias.source);
  if (target?.extent) bindAlias(alias, target.node);
  else note(startOf(alias), 'Unresolved alias');
  return target?.extent ?? { values: 1, depth: 0 };
}

/** Tells an alias what it stands for. It could find out itself, but goes through all that stands before it. */
function bindAlias(alias: Alias, target: Node): void {
  alias.resolve = (document, context) => {
    if (!context) return target as ReturnType<Alias['resolve']>;
    context.aliasResolveCache = [target];
    return Alias.prototype.resolve.call(alias, document, context);
  };
}

/** The library compares each key with each other, and takes `200` and `"200"` for two names. */
function noteRepeatedKeys({ items }: YAMLMap, note: NoteFault): void {
  const names = new Set<string>();
  for (const { key } of items) {
    // `<<` where it merges is a symbol, and may come more than once.
    if (!isScalar(key) || typeof key.value === 'symbol') continue;
    const name = String((key.value as Key) ?? '');
    if (names.has(name)) note(startOf(key), 'Map keys must be unique');
    names.add(name);
  }
}

type Key = string | number | bigint | boolean | null;

function startOf({ range }: Node): number {
  return range?.[0] ?? 0;
}
