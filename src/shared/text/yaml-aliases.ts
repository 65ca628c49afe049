import { Alias, type Document, isAlias, isCollection, isNode, isPair, type Node } from 'yaml';
import { YAML_DEPTH_MAX } from './yaml-document.ts';

/** Names and values of a document with those that its aliases stand for: two for each value that a spec may have. */
const VALUES_MAX = 1_000_000;

/** Tells an alias what it stands for. It could find out itself, but goes through all that stands before it. */
export function bindAlias(alias: Alias, target: Node): void {
  alias.resolve = (document, context) => {
    if (!context) return target as ReturnType<Alias['resolve']>;
    context.aliasResolveCache = [target];
    return Alias.prototype.resolve.call(alias, document, context);
  };
}

/** What a value has with its aliases written out. */
type Extent = { values: number; depth: number };

/** True for what neither explodes nor nests too deep once its aliases, all of them bound, are written out. */
export function isBounded(document: Document): boolean {
  const { values, depth } = extentOf(document.contents, document, new Map());
  return values <= VALUES_MAX && depth <= YAML_DEPTH_MAX;
}

function extentOf(node: unknown, document: Document, anchored: Map<unknown, Extent>): Extent {
  if (isAlias(node)) return anchored.get(node.resolve(document)) ?? { values: 1, depth: 0 };
  const level = isCollection(node) ? 1 : 0;
  const below = isPair(node) ? [node.key, node.value] : isCollection(node) ? node.items : [];
  const extent = { values: 1, depth: 0 };
  for (const one of below) {
    const { values, depth } = extentOf(one, document, anchored);
    extent.values += values;
    extent.depth = Math.max(extent.depth, depth);
  }
  extent.depth += level;
  if (isNode(node) && node.anchor !== undefined) anchored.set(node, extent);
  return extent;
}
