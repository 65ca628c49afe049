import { isAlias, isScalar, type LineCounter, type Node, type Pair, visit } from 'yaml';
import { bindAlias } from './yaml-aliases.ts';
import { placeOf, type TextPlace, YAML_DEPTH_MAX, type YamlDocument } from './yaml-document.ts';

/** One thing that is wrong with a text of YAML, in the library's words. */
export type YamlFault = TextPlace & { message: string };

/** All that is wrong with a text of YAML, one fault a line, from its first line to its last. */
export function faultsIn(parsed: YamlDocument): YamlFault[] {
  const { lines, tooDeepAt } = parsed;
  const faults = new Map<number, YamlFault>();
  for (const fault of allFaultsIn(parsed))
    if (!faults.has(fault.line)) faults.set(fault.line, fault);
  if (faults.size === 0 && tooDeepAt !== undefined)
    return [{ ...placeOf(lines, tooDeepAt), message: `More than ${YAML_DEPTH_MAX} levels` }];
  return [...faults.values()].toSorted((left, right) => left.line - right.line);
}

function* allFaultsIn(parsed: YamlDocument): Generator<YamlFault> {
  const { document, lines, secondAt, tooDeepAt = Infinity } = parsed;
  for (const { pos, message } of [...document.errors, ...document.warnings])
    // Behind that place everything looks as if it broke off.
    if (pos[0] < tooDeepAt) yield { ...placeOf(lines, pos[0]), message: withoutSource(message) };
  if (secondAt !== undefined) yield { ...placeOf(lines, secondAt), message: 'A second document' };
  yield* repeatedKeys(parsed);
  yield* badAliases(parsed);
}

/** Some messages end with what stands there, which may be a secret. */
function withoutSource(message: string): string {
  return message.replace(/(?:(?<=\w): | [%\\]).*$/s, '');
}

/** Which keys stand twice in a map, and where they stood first: `200` and `"200"` are one name of an object. */
function repeatedKeys({ document, lines }: YamlDocument): YamlFault[] {
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
    message: `The key ${nameOf(second.key)} stands in line ${line} already`,
  };
}

/** An alias of what it stands in would make a value without an end. All others are bound. */
function badAliases({ document, lines }: YamlDocument): YamlFault[] {
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
      const message = target ? 'An alias of what it stands in' : 'An alias without its anchor';
      faults.push({ ...placeOf(lines, startOf(node)), message });
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
