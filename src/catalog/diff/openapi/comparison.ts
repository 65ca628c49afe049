/** Words in which two OpenAPI documents are compared. */
import { isRecord } from '#shared/text/json.ts';
import type { AreAlike, Change } from '../changes.ts';
import type { Targets } from './targets.ts';

type Json = Record<string, unknown>;

/** A place of a document: the names that lead there, as `differences` gives them. */
export type At = readonly string[];

/**
 * A value and where it stands: behind a reference, where that leads to. `also`: other schemas that the same
 * value has to fit; `bare`: without its references and alternatives; `notNull`: what of it is not null.
 */
export type Entry = {
  value: unknown;
  at: At;
  also?: readonly Entry[];
  bare?: true;
  notNull?: true;
};

/** `request`: clients send it, so it may be widened. `response`: they receive it, so it may be narrowed. */
export type Direction = 'request' | 'response';

/** A rule's verdict on a place. A place without one hurts nobody. */
export type Verdict = Pick<Change, 'kind' | 'text'> & {
  at: At;
  impact: 'breaking' | 'unclassified';
};

/**
 * The way a value travels. `isText`: as the text of a parameter or a header, in which `1` is a text, too.
 * `isRepeated`: a list is the parameter several times, so that one value is a list of one.
 */
export type Way = { direction: Direction; isText?: boolean; isRepeated?: boolean };

/** The schemas of one value. `site`: where it is used. */
export type Pair = Way & { site: At; before: Entry; after: Entry };

/** Two documents that are compared, and what is known of them so far. */
export type Comparison = {
  before: Document;
  after: Document;
  say: (verdict: Verdict) => void;
  /** Leaves out values that are alike: nobody is hurt by them. */
  areAlike: AreAlike;
  /** Pairs of schemas that are still to be compared: chains of references are longer than a stack is deep. */
  open: Pair[];
  /** Those that ever were, so that each is compared once, and cycles end. */
  seen: Set<string>;
  /** True for a pair of schemas of which the one takes the place of the other. */
  fits: Map<string, boolean>;
  /** Depth in alternatives of alternatives. */
  depth: number;
};

/** One of the two, with what was read of it. */
export type Document = {
  root: Json;
  /** True since 3.1: words beside a reference count. */
  hasSiblings: boolean;
  targets: Targets;
  /** True when some schema has an `$id`, within which references are its own. */
  hasIds: boolean;
  shapes: Map<string, Shape>;
  /** Names of entries, made from numbers of their places. */
  keys: WeakMap<Entry, string>;
  numbers: Map<string, number>;
  /** Definitions that a reference on the way led to. */
  reached: Set<string>;
};

/** A schema with what it refers to and all of its `allOf` in one. What stands several times in that is all kept. */
export type Shape = {
  document: Document;
  /** Its place once its references are followed. */
  at: At;
  words: Map<string, Entry>;
  properties: Map<string, Entry>;
  required: Map<string, Entry>;
  /** The schemas of what it consists of besides, by where they stand in it. */
  parts: Map<string, Entry>;
  /** Undefined for every type. */
  types: ReadonlySet<string> | undefined;
  /** Of `oneOf` or `anyOf`; none where there is but one way. */
  variants: Entry[];
  /** Further ones, of which one has to fit as well. */
  moreVariants: Entry[][];
  /** The schemas that it was read from, without references and alternatives. */
  pieces: Entry[];
};

/** A part of an interface that clients rely on, with its own: paths of operations, those of parameters, a body, responses. */
export type Part = {
  label: string;
  /** Its name for comparing, if not its label. */
  key?: string;
  /** Keys of parts that take its place. */
  also?: string[];
  at: At;
  direction: Direction;
  /** Impact of its coming, and of its going; none by default. */
  added?: Verdict['impact'];
  removed?: Verdict['impact'];
  isRequired?: boolean;
  /** The form of a value of it, and of a list of values: whether that is the parameter several times. */
  style?: { of: string; ofLists: string; isRepeated: boolean; canBeList: () => boolean };
  /** As it travels. */
  way?: Way;
  schema?: Entry;
  /** All that it is read from: where that is alike, so is the part. */
  whole?: object;
  /** Credentials that a caller has to come with, one of the sets being enough. */
  needs?: { at: At; sets: Set<string>[] };
  parts?: () => Part[];
};

/** Of a response everything counts. */
export const PROMISED = { direction: 'response', removed: 'breaking' } as const;

/** Two shapes: what lies in `inner` must lie in `outer`. */
export type Shapes = {
  comparison: Comparison;
  pair: Pair;
  isRequest: boolean;
  /** True when both stand at one place. `home`: the place that a verdict is about. */
  isShared: boolean;
  home: At;
  before: Shape;
  after: Shape;
  inner: Shape;
  outer: Shape;
  /** True when nothing breaks where the one of a pair takes the place of the other. */
  isFit: (pair: Pair) => boolean;
};

/** A break by a word of a schema, or by something below it. */
export type Breakage = {
  word: string;
  below?: [name: string, entry: Entry];
  kind?: Verdict['kind'];
  impact?: Verdict['impact'];
  text: string;
};

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

/** An entry, and what the same value has to fit besides. */
export function wholeOf(entry: Entry | undefined): readonly Entry[] {
  return entry ? [entry, ...(entry.also ?? [])] : [];
}

const HOPS_MAX = 64;

/** The value that references lead to in the end; the value itself where they lead nowhere. */
export function resolve({ targets, reached }: Document, entry: Entry): Entry {
  let found = entry;
  if (entry.bare) return entry;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const target = isRecord(found.value) ? found.value['$ref'] : undefined;
    const next = typeof target === 'string' ? targets(found.at, target) : undefined;
    if (!next) return found;
    reached.add(next.at.slice(0, next.at[0] === 'components' ? 3 : 2).join('\n'));
    found = next;
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
