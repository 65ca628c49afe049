import { unescape } from 'node:querystring';
import { isRecord, unescapePointer, valueAt } from '#shared/text/json.ts';
import type { Change } from '../changes.ts';

type Json = Record<string, unknown>;

/** A place of a document: the names that lead there, as `differences` gives them. */
export type At = readonly string[];

/** A value and where it stands: behind a reference, where that leads to. */
export type Entry = { value: unknown; at: At };

/** `request`: clients send it, so it may be widened. `response`: they receive it, so it may be narrowed. */
export type Direction = 'request' | 'response';

/** What a rule says of a place. What no rule speaks of hurts nobody. */
export type Verdict = Pick<Change, 'kind' | 'text'> & {
  at: At;
  impact: 'breaking' | 'unclassified';
};

/** The schemas of one value, as it travels. `site`: where it is used. */
export type Pair = { direction: Direction; site: At; before: Entry; after: Entry };

/** Two documents that are compared, and what is known of them so far. */
export type Comparison = {
  before: Json;
  after: Json;
  say: (verdict: Verdict) => void;
  /** Pairs of schemas that are still to be compared: chains of references are longer than a stack is deep. */
  open: Pair[];
  /** Those that ever were, so that each is compared once, and cycles end. */
  seen: Set<string>;
  /** Whether the one schema of a pair takes the place of the other. */
  fits: Map<string, boolean>;
  /** How many alternatives of alternatives deep. */
  depth: number;
  /** Definitions that a reference on the way led to. */
  reached: Set<string>;
};

export type Side = 'before' | 'after';

export type Document = { comparison: Comparison; side: Side };

/** The one side must lie within the other: what was sent within what is taken, what is given within what was said. */
export function sidesOf<T>(direction: Direction, before: T, after: T): { inner: T; outer: T } {
  return direction === 'request'
    ? { inner: before, outer: after }
    : { inner: after, outer: before };
}

export function isSamePlace(one: { at: At }, other: { at: At }): boolean {
  return one.at.join('\n') === other.at.join('\n');
}

/** An absent value is one of its own. */
export function entryOf(parent: Entry, name: string): Entry {
  const value =
    isRecord(parent.value) && Object.hasOwn(parent.value, name) ? parent.value[name] : undefined;
  return { value, at: [...parent.at, name] };
}

export function membersOf(parent: Entry): [string, Entry][] {
  if (!isRecord(parent.value)) return [];
  return Object.entries(parent.value).map(([name, value]) => [
    name,
    { value, at: [...parent.at, name] },
  ]);
}

const HOPS_MAX = 64;

/** Where the references of a value lead to in the end; the value itself where they lead nowhere. */
export function resolve({ comparison, side }: Document, entry: Entry): Entry {
  let found = entry;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const target = isRecord(found.value) ? found.value['$ref'] : undefined;
    if (typeof target !== 'string' || !target.startsWith('#/')) return found;
    const pointer = unescape(target.slice(1));
    const at = pointer.slice(1).split('/').map(unescapePointer);
    const value = valueAt(comparison[side], pointer);
    if (value === undefined) return found;
    comparison.reached.add(at.slice(0, at[0] === 'components' ? 3 : 2).join('\n'));
    found = { value, at };
  }
  return found;
}

/** The elements of a list, by the names that `differences` gives them. */
export function listOf(entry: Entry | undefined): Entry[] {
  if (!entry || !Array.isArray(entry.value)) return [];
  const { value, at } = entry;
  return value.map((one: unknown, index: number) => {
    const reference = isRecord(one) ? one['$ref'] : undefined;
    return { value: one, at: [...at, typeof reference === 'string' ? reference : String(index)] };
  });
}
