import { unescape } from 'node:querystring';
import { isRecord, lookUp, unescapePointer } from '#shared/text/json.ts';
import { kindBelow, type PlaceKind } from '../../spec/places.ts';

type Json = Record<string, unknown>;
type Found = { value: unknown; at: readonly string[] };

/** What the reference of a place leads to; undefined where that is nowhere, or another document. */
export type Targets = (from: readonly string[], target: string) => Found | undefined;

/** What schemas call themselves: `$id` by its text, `$anchor` with its `#`. */
type Names = Map<string, Found>;

/** Looks each reference of a document up once. */
export function createTargets(root: Json): Targets {
  const names: Names = new Map();
  note(root, 'object', { root, names, path: [] });
  const resources = [...names.values()].filter(({ at, value }) => at.length > 0 && hasId(value));
  const known = new Map<string, Found | undefined>();
  return (from, target) => {
    const home = target.startsWith('#') ? resourceAround(resources, from) : undefined;
    const key = home ? `${home.at.join('\n')}\n${target}` : target;
    if (!known.has(key)) known.set(key, find(home ?? { value: root, at: [] }, target, names));
    return known.get(key);
  };
}

function hasId(value: unknown): boolean {
  return isRecord(value) && typeof value['$id'] === 'string';
}

/** The innermost schema with an `$id` that a place is in. */
function resourceAround(resources: readonly Found[], from: readonly string[]): Found | undefined {
  return resources.findLast(({ at }) => at.every((name, index) => from[index] === name));
}

function find(home: Found, target: string, names: Names): Found | undefined {
  const [id = '', fragment = ''] = target.split('#', 2);
  const base = id === '' ? home : names.get(id);
  if (!base) return undefined;
  if (fragment === '') return base;
  if (!fragment.startsWith('/')) return names.get(`#${fragment}`);
  const path = unescape(fragment).slice(1).split('/').map(unescapePointer);
  const value = lookUp(base.value, path);
  return value === undefined ? undefined : { value, at: [...base.at, ...path] };
}

type Noting = { root: Json; names: Names; path: string[] };

function note(value: unknown, kind: PlaceKind, state: Noting): void {
  if (kind === 'data' || kind === 'leaf' || typeof value !== 'object' || value === null) return;
  const { root, names, path } = state;
  if (kind === 'object') noteNames(value as Json, names, path);
  for (const [key, child] of Object.entries(value)) {
    if (typeof child !== 'object' || child === null) continue;
    path.push(key);
    note(child, kindBelow(kind, key, child, root), state);
    path.pop();
  }
}

function noteNames(value: Json, names: Names, path: readonly string[]): void {
  const { $id, $anchor, $dynamicAnchor } = value;
  if (typeof $id === 'string') names.set($id.replace(/#$/, ''), { value, at: [...path] });
  for (const anchor of [$anchor, $dynamicAnchor])
    if (typeof anchor === 'string') names.set(`#${anchor}`, { value, at: [...path] });
}
