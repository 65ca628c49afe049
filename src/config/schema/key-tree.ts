/**
 * The keys of the configuration as a tree, read from its JSON Schema: names of keys (environment
 * variables, near misses) come from it, and which values may be shown (never a secret's).
 */
import { z } from 'zod';

import { configSchema } from './schema.ts';

export type KeyNode = {
  /** JSON Schema types that a value may have. */
  types: ReadonlySet<string>;
  /** A value that must never be shown, or may hold one that must not. */
  isSecret: boolean;
  /** Known keys below this one. */
  keys: ReadonlyMap<string, KeyNode>;
  /** The node below keys that the user names, and below list items. */
  entry: KeyNode | undefined;
};

export type KeyPath = readonly (string | number)[];

type JsonSchema = {
  type?: string;
  writeOnly?: boolean;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
};

let tree: KeyNode | undefined;

/** The tree of `configSchema`, made at the first call. */
export function configKeys(): KeyNode {
  tree ??= toNode(z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema);
  return tree;
}

/** The node at a path, or undefined where nothing is known. */
export function nodeAt(root: KeyNode, path: KeyPath): KeyNode | undefined {
  let node: KeyNode | undefined = root;
  for (const part of path) node = node?.keys.get(String(part)) ?? node?.entry;
  return node;
}

/** Every known key path, as text; names that the user gives stand as `*`. */
export function allKeyPaths(node: KeyNode = configKeys(), prefix = ''): string[] {
  const below: [string, KeyNode][] = [...node.keys];
  if (node.entry && node.types.has('object')) below.push(['*', node.entry]);
  return below.flatMap(([key, child]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return [path, ...allKeyPaths(child, path)];
  });
}

function toNode(schema: JsonSchema): KeyNode {
  const options = schema.anyOf?.map(toNode) ?? [];
  const own = [schema.additionalProperties, schema.items].find(
    (below) => typeof below === 'object',
  );
  return {
    types: new Set([
      ...(schema.type === undefined ? [] : [schema.type]),
      ...options.flatMap(({ types }) => [...types]),
    ]),
    isSecret: schema.writeOnly === true || options.some(({ isSecret }) => isSecret),
    keys: new Map([
      ...Object.entries(schema.properties ?? {}).map(
        ([key, below]) => [key, toNode(below)] as const,
      ),
      ...options.flatMap(({ keys }) => [...keys]),
    ]),
    entry: own ? toNode(own) : options.find(({ entry }) => entry)?.entry,
  };
}
