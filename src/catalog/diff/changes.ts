import { boundPointer, escapePointer, isRawNumber, isRecord } from '#shared/text/json.ts';

/** Impact of a change on those who rely on the older version; `unclassified` where that is not certain. */
export const impacts = ['breaking', 'compatible', 'unclassified'] as const;
export type Impact = (typeof impacts)[number];

export const changeKinds = ['added', 'removed', 'changed'] as const;

/** One difference between two versions. */
export type Change = {
  /** A JSON pointer: `/owner`, `/spec/paths/~1leads/get`. */
  path: string;
  kind: (typeof changeKinds)[number];
  impact: Impact;
  /** In words, such as `from 500 to 200`. */
  text: string;
};

/** A difference as it was found, before anybody says what it means. */
export type Difference = {
  at: readonly string[];
  kind: Change['kind'];
  before?: unknown;
  after?: unknown;
};

/** More changes than this are not listed. */
export const CHANGES_MAX = 1000;

export type Changes = { changes: Change[]; truncated: boolean };

const ORDER: readonly Impact[] = ['breaking', 'unclassified', 'compatible'];

const TEXT_CHARACTERS_MAX = 200;

/** Breaking ones first, at most 1,000, each of bounded length; `below` is what their paths start with. */
export function orderChanges(found: Iterable<Change>, below = ''): Changes {
  const byImpact: Record<Impact, Change[]> = { breaking: [], unclassified: [], compatible: [] };
  let total = 0;
  for (const change of found) {
    total += 1;
    if (byImpact[change.impact].length < CHANGES_MAX)
      byImpact[change.impact].push({
        ...change,
        path: boundPointer(`${below}${change.path}`),
        text: change.text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed(),
      });
  }
  const changes = ORDER.flatMap((impact) => byImpact[impact]).slice(0, CHANGES_MAX);
  return { changes, truncated: total > changes.length };
}

/** A difference as a change. */
export function toChange(difference: Difference, impact: Impact): Change {
  const { at, kind } = difference;
  return { path: pointerOf(at), kind, impact, text: describeDifference(difference) };
}

export function pointerOf(at: readonly string[]): string {
  return at.map((part) => `/${escapePointer(part)}`).join('');
}

const VALUE_CHARACTERS_MAX = 80;

export function describeDifference({ kind, before, after }: Omit<Difference, 'at'>): string {
  if (kind === 'changed') return `from ${shown(before)} to ${shown(after)}`;
  const value = kind === 'added' ? after : before;
  return typeof value === 'object' && value !== null ? kind : `${kind}: ${shown(value)}`;
}

/** Containers are named, not shown: they have changes of their own. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null && !isRawNumber(value)) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= VALUE_CHARACTERS_MAX
    ? text
    : `${text.slice(0, VALUE_CHARACTERS_MAX).toWellFormed()}…`;
}

/**
 * Places where two JSON values differ, the outermost only: something added or removed as a whole is one
 * difference. Lists of texts and numbers are compared as sets, lists of things with names by their
 * names, others place by place.
 */
export function* differences(
  before: unknown,
  after: unknown,
  at: readonly string[] = [],
  areEqual = createAreAlike(),
): Generator<Difference> {
  if (areEqual(before, after)) return;
  const sides = asMembers(before, after);
  if (sides) {
    yield* memberDifferences(sides, at, areEqual);
    return;
  }
  if (before !== after && JSON.stringify(before) !== JSON.stringify(after))
    yield { at, kind: 'changed', before, after };
}

type Sides = { before: ReadonlyMap<string, unknown>; after: ReadonlyMap<string, unknown> };

function* memberDifferences(
  { before, after }: Sides,
  at: readonly string[],
  areEqual: AreAlike,
): Generator<Difference> {
  for (const [name, value] of before)
    if (after.has(name)) yield* differences(value, after.get(name), [...at, name], areEqual);
    else yield { at: [...at, name], kind: 'removed', before: value };
  for (const [name, value] of after)
    if (!before.has(name)) yield { at: [...at, name], kind: 'added', after: value };
}

/** Both as names with values; undefined for what is compared as one value. */
function asMembers(before: unknown, after: unknown): Sides | undefined {
  if (isObject(before) && isObject(after))
    return { before: new Map(Object.entries(before)), after: new Map(Object.entries(after)) };
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const nameOf = [scalarName, thingName].find(
    (name) => namesAll(before, name) && namesAll(after, name),
  );
  const toMap = (list: readonly unknown[]): Map<string, unknown> =>
    new Map(list.map((value, index) => [nameOf?.(value) ?? String(index), value]));
  return { before: toMap(before), after: toMap(after) };
}

type NameOf = (value: unknown) => string | undefined;

/** True when every element has a name of its own. */
function namesAll(list: readonly unknown[], nameOf: NameOf): boolean {
  const names = new Set(list.map(nameOf));
  return names.size === list.length && !names.has(undefined);
}

const scalarName: NameOf = (value) => {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null && !isRawNumber(value)
    ? undefined
    : JSON.stringify(value);
};

/** Parameters are known by where they stand and their name, others by a name, an id or a reference. */
const thingName: NameOf = (value) => {
  if (!isRecord(value)) return undefined;
  const { in: place, name, id, $ref: reference } = value;
  if (typeof place === 'string' && typeof name === 'string') return `${place}:${name}`;
  return [name, id, reference].find((one): one is string => typeof one === 'string');
};

function isObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !isRawNumber(value);
}

/** True when two values are equal, and so is, where that is asked for, all that their references lead to. */
export type AreAlike = (before: unknown, after: unknown) => boolean;

/**
 * Looks at each value once: of two versions most is alike, and nothing in that is to be compared. `isReferenceAlike`
 * says whether a reference that stands in both leads to what is alike; by default any does.
 */
export function createAreAlike(isReferenceAlike = (_reference: string): boolean => true): AreAlike {
  const known = new WeakMap<object, { was: object; isAlike: boolean }>();
  const haveAlikeMembers = (was: object, is: object): boolean => {
    if (Array.isArray(was) !== Array.isArray(is)) return false;
    const [former, latter] = [was, is] as [Record<string, unknown>, Record<string, unknown>];
    const names = Object.keys(latter);
    return (
      names.length === Object.keys(former).length &&
      names.every((name) => {
        const value = latter[name];
        if (!Object.hasOwn(former, name) || !areAlike(former[name], value)) return false;
        return name !== '$ref' || typeof value !== 'string' || isReferenceAlike(value);
      })
    );
  };
  const areAlike: AreAlike = (was, is) => {
    if (!isContainer(was) || !isContainer(is)) return was === is;
    const before = known.get(is);
    if (before?.was === was) return before.isAlike;
    const isAlike = haveAlikeMembers(was, is);
    known.set(is, { was, isAlike });
    return isAlike;
  };
  return areAlike;
}

export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
