import { unescape } from 'node:querystring';
import { isRecord, lookUp, unescapePointer } from '#shared/text/json.ts';
import { type AreAlike, createAreAlike, isContainer } from '../changes.ts';
import { kindBelow, type PlaceKind } from '../../spec/places.ts';

type Json = Record<string, unknown>;
type Found = { value: unknown; at: readonly string[] };

/** Follows the reference of a place; undefined where it leads nowhere, or to another document. */
export type Targets = (from: readonly string[], target: string) => Found | undefined;

/** Schemas by the names that they give themselves: `$id` by its text, `$anchor` with its `#`. */
type Names = Map<string, Found>;

/** Looks each reference of a document up once. */
export function createTargets(root: Json): { targets: Targets; hasIds: boolean } {
  const names: Names = new Map();
  note(root, 'object', { root, names, path: [] });
  const resources = [...names.values()].filter(({ at, value }) => at.length > 0 && hasId(value));
  const known = new Map<string, Found | undefined>();
  const targets: Targets = (from, target) => {
    const home = target.startsWith('#') ? resourceAround(resources, from) : undefined;
    const key = home ? `${home.at.join('\n')}\n${target}` : target;
    if (!known.has(key)) known.set(key, find(home ?? { value: root, at: [] }, target, names));
    return known.get(key);
  };
  return { targets, hasIds: resources.length > 0 };
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

/** Compares values of two documents with all that their references lead to. */
export function createAreAlikeIn(before: Root, after: Root): AreAlike {
  const homeOf = rememberHomes();
  const changed = changedHomes(before, after, homeOf);
  return createAreAlike((reference) => !changed.has(homeOf(reference)));
}

type Root = Readonly<Json>;

type HomeOf = (reference: string) => string;

/** The definition or path that a reference leads to, or into. */
function rememberHomes(): HomeOf {
  const known = new Map<string, string>();
  return (reference) => {
    const home =
      known.get(reference) ?? homeAt(unescape(reference).split('/').slice(1).map(unescapePointer));
    known.set(reference, home);
    return home;
  };
}

const homeAt = (path: readonly string[]): string =>
  path.slice(0, path[0] === 'components' ? 3 : 2).join('\n');

function homesIn(root: Root): Map<string, unknown> {
  const groups = below(root, []).flatMap(([path, group]) =>
    path[0] === 'components' ? below(group, path) : [[path, group] as const],
  );
  const homes = groups.flatMap(([path, group]) => below(group, path));
  return new Map(homes.map(([path, value]) => [homeAt(path), value]));
}

type Placed = readonly [path: readonly string[], value: unknown];

function below(value: unknown, path: readonly string[]): Placed[] {
  if (!isContainer(value)) return [];
  return Object.entries(value).map(([name, one]) => [[...path, name], one]);
}

/** Those that are not as they were, and whatever refers to such. Where nobody knows what is there, it changed. */
function changedHomes(before: Root, after: Root, homeOf: HomeOf): ReadonlySet<string> {
  const [former, latter] = [homesIn(before), homesIn(after)];
  const users = new Map<string, Set<string>>();
  const changed = new Set<string>();
  for (const [home, value] of latter) {
    const note = (text: string): boolean => {
      const used = homeOf(text);
      users.set(used, (users.get(used) ?? new Set()).add(home));
      return true;
    };
    if (!createAreAlike(note)(former.get(home), value)) changed.add(home);
  }
  for (const home of users.keys()) if (!latter.has(home)) changed.add(home);
  // Those that are found here are looked at in their turn.
  for (const home of changed) for (const user of users.get(home) ?? []) changed.add(user);
  return changed;
}
