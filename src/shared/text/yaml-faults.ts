import {
  Alias,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  type Node,
  type YAMLMap,
} from 'yaml';
import { placeOf, type TextPlace, YAML_DEPTH_MAX, type YamlDocument } from './yaml-document.ts';

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
export function withoutSource(message: string): string {
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
