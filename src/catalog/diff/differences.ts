import { isRawNumber, isRecord } from '#shared/text/json.ts';
import type { Difference } from './change.ts';

/**
 * Where two JSON values differ, outermost places only: what was added or removed as a whole is one
 * difference. Lists of texts and numbers are compared as sets, lists of things with names by their
 * names, others place by place.
 */
export function* differences(
  before: unknown,
  after: unknown,
  at: readonly string[] = [],
): Generator<Difference> {
  const sides = asMembers(before, after);
  if (sides) {
    yield* memberDifferences(sides, at);
    return;
  }
  if (!isSame(before, after)) yield { at, kind: 'changed', before, after };
}

type Sides = { before: ReadonlyMap<string, unknown>; after: ReadonlyMap<string, unknown> };

function* memberDifferences(
  { before, after }: Sides,
  at: readonly string[],
): Generator<Difference> {
  for (const [name, value] of before)
    if (after.has(name)) yield* differences(value, after.get(name), [...at, name]);
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

/** Whether every element has a name of its own. */
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

function isSame(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}
