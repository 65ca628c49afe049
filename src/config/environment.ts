/**
 * `TRACKPORT_…` variables. Each key has one: its path in capitals, joined by underscores, with
 * `camelCase` split (`server.publicUrl` is `TRACKPORT_SERVER_PUBLIC_URL`). Names that the file gives
 * (partners, form fields) are part of it in capitals, with every other character as an underscore.
 * Lists are comma-separated or a YAML flow list; whole sections are YAML flow maps.
 */
import { parse } from 'yaml';

import { isRecord, lookUp } from '#shared/text/json.ts';
import { nearest } from '#shared/text/near-miss.ts';

import { allKeyPaths, configKeys, type KeyNode, type KeyPath, nodeAt } from './schema/key-tree.ts';
import type { Problem } from './problems.ts';
import type { Environment } from './interpolate.ts';

const PREFIX = 'TRACKPORT_';
/** No keys: the command line's, and what Kubernetes sets in every pod for a service that is named trackport. */
const OTHERS = /^TRACKPORT_(?:(?:CONFIG|TOKEN|CLIENT_SECRET|PORT)$|PORT_\d|SERVICE_)/;

/** A variable that differs from ours by more letters is somebody else's. */
const DIFFERENCES_MAX = 2;

type Override = { name: string; path: KeyPath; value: unknown };

/** Reads the keys that the environment sets; names that are nearly those of a key are problems. */
export function readOverrides(
  environment: Environment,
  given: unknown,
): { overrides: Override[]; problems: Problem[] } {
  const overrides: Override[] = [];
  const problems: Problem[] = [];
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || text === undefined || OTHERS.test(name)) continue;
    const path = resolveName(configKeys(), given, name.slice(PREFIX.length));
    if (path) overrides.push({ name, path, value: readValue(nodeAt(configKeys(), path), text) });
    else problems.push(...misspelt(name, given));
  }
  // A section comes before its keys, so that both can be set.
  overrides.sort((left, right) => left.path.length - right.path.length);
  return { overrides, problems };
}

/** The variable that sets a key: `server.publicUrl` → `TRACKPORT_SERVER_PUBLIC_URL`. */
function variableOf(path: KeyPath): string {
  return PREFIX + path.map((part) => toSegment(String(part))).join('_');
}

/** `given` with every override put in its place. */
export function applyOverrides(given: unknown, overrides: readonly Override[]): unknown {
  let tree = given;
  for (const { path, value } of overrides) tree = withValue(tree, path, value);
  return tree;
}

/** A copy of a tree with one value replaced; what is missing on the way is made. */
export function withValue(tree: unknown, [key, ...rest]: KeyPath, value: unknown): unknown {
  if (key === undefined) return value;
  const base = isRecord(tree) ? tree : {};
  return { ...base, [key]: withValue(lookUp(base, [key]), rest, value) };
}

function resolveName(node: KeyNode, given: unknown, rest: string): KeyPath | undefined {
  const named = node.entry && isRecord(given) ? Object.keys(given) : [];
  const keys = [...node.keys.keys(), ...named].sort((left, right) => right.length - left.length);
  for (const key of keys) {
    const segment = toSegment(key);
    if (rest === segment) return [key];
    const below = node.keys.get(key) ?? node.entry;
    if (!below || !rest.startsWith(`${segment}_`)) continue;
    const found = resolveName(below, lookUp(given, [key]), rest.slice(segment.length + 1));
    if (found) return [key, ...found];
  }
  return undefined;
}

function toSegment(key: string): string {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]/g, '_')
    .toUpperCase();
}

function readValue(node: KeyNode | undefined, text: string): unknown {
  if (!node) return text;
  const trimmed = text.trim();
  const isList = node.types.has('array');
  if ((isList && trimmed.startsWith('[')) || (node.types.has('object') && isFlowMap(trimmed)))
    return parseFlow(trimmed) ?? text;
  const isFlag = node.types.has('boolean') && /^(?:true|false)$/.test(trimmed);
  if (!isList || node.types.has('string') || isFlag) return text;
  return trimmed === '' ? [] : trimmed.split(',').map((item) => item.trim());
}

function isFlowMap(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}');
}

function parseFlow(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function misspelt(name: string, given: unknown): Problem[] {
  const partners = lookUp(given, ['partners']);
  const ids = isRecord(partners) ? Object.keys(partners) : [];
  const known = allKeyPaths()
    .flatMap((path) => [path, ...ids.map((id) => path.replace('partners.*', `partners.${id}`))])
    .map((path) => variableOf(path.split('.')));
  const meant = nearest(name, known, DIFFERENCES_MAX);
  if (meant === undefined) return [];
  return [
    {
      path: name,
      found: 'a variable that sets no key',
      allowed: 'the name of a key in capitals',
      suggestion: `did you mean ${meant}?`,
    },
  ];
}

/** Text that stands where a number or a flag is wanted, as that number or flag. */
export function coerceScalars(value: unknown, node: KeyNode | undefined = configKeys()): unknown {
  if (!node) return value;
  if (typeof value === 'string') return coerce(value, node.types);
  if (Array.isArray(value)) return value.map((item) => coerceScalars(item, node.entry));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      coerceScalars(item, node.keys.get(key) ?? node.entry),
    ]),
  );
}

function coerce(text: string, types: ReadonlySet<string>): unknown {
  if (types.has('string')) return text;
  const isNumber = types.has('integer') || types.has('number');
  if (isNumber && /^-?\d{1,15}$/.test(text)) return Number(text);
  return types.has('boolean') && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}
