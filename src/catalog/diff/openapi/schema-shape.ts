import { isRecord } from '#shared/text/json.ts';
import { membersOf, resolve } from './comparison.ts';
import type { Comparison, Entry, Side } from './comparison.ts';

/** A schema with what it refers to and all of its `allOf` in one. */
export type Shape = {
  /** Where it stands once its references are followed. */
  at: Entry['at'];
  words: Map<string, Entry>;
  properties: Map<string, Entry>;
  required: Map<string, Entry>;
  /** Undefined for every type. */
  types: ReadonlySet<string> | undefined;
  /** Of `oneOf` or `anyOf`; none where there is but one way. */
  variants: Entry[];
};

export function shapeOf(comparison: Comparison, side: Side, entry: Entry): Shape {
  const { at } = resolve(comparison, side, entry);
  const shape = { at, words: new Map(), properties: new Map(), required: new Map() };
  const read: Reading = { comparison, side, shape, seen: new Set(), isNullable: false };
  readInto(read, entry);
  return { ...shape, types: typesOf(read), variants: read.variants ?? [] };
}

type Reading = {
  comparison: Comparison;
  side: Side;
  shape: Pick<Shape, 'at' | 'words' | 'properties' | 'required'>;
  seen: Set<unknown>;
  isNullable: boolean;
  variants?: Entry[];
};

/** Of one schema, by references and `allOf`. */
const PARTS_MAX = 500;

function readInto(read: Reading, entry: Entry): void {
  const { value, at } = entry;
  if (read.seen.has(value) || read.seen.size > PARTS_MAX) return;
  read.seen.add(value);
  const target = resolve(read.comparison, read.side, entry);
  if (target.value !== value) readInto(read, target);
  // `false` is the schema that nothing fits.
  if (value === false) read.shape.words.set('type', { value: [], at });
  for (const [word, member] of membersOf(entry)) readWord(read, word, member);
  if (isRecord(value)) readExclusive(read.shape.words);
}

function readWord(read: Reading, word: string, member: Entry): void {
  const { words, properties, required } = read.shape;
  if (word === 'properties')
    for (const [name, property] of membersOf(member)) properties.set(name, property);
  else if (word === 'required')
    for (const entry of wordsOf(member)) required.set(String(entry.value), entry);
  else if (word === 'allOf') for (const part of listOf(member)) readInto(read, part);
  else if (word !== '$ref') words.set(word, member);
  if (word === 'oneOf' || word === 'anyOf') readVariants(read, member);
  read.isNullable ||= word === 'nullable' && member.value === true;
}

/** An alternative that is null says that the others may be; one that is left is no alternative. */
function readVariants(read: Reading, member: Entry): void {
  const all = listOf(member);
  const others = all.filter(({ value }) => !isRecord(value) || value['type'] !== 'null');
  read.isNullable ||= others.length < all.length;
  const [only] = others;
  if (only && others.length === 1) readInto(read, only);
  else read.variants = others;
}

/** As it was written before 3.1: true, beside the limit. */
function readExclusive(words: Map<string, Entry>): void {
  for (const [word, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const entry = words.get(limit);
    if (words.get(word)?.value !== true || !entry) continue;
    words.set(word, entry);
    words.delete(limit);
  }
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

/** Words that speak of one type alone. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

/** Who leaves out the type means that of the words beside. */
function typesOf({ shape, isNullable }: Reading): Shape['types'] {
  const { words, properties, required } = shape;
  const given = words.get('type')?.value;
  const types = new Set<string>(Array.isArray(given) ? given.map(String) : []);
  if (typeof given === 'string') types.add(given);
  if (given === undefined) {
    if (properties.size + required.size > 0) types.add('object');
    for (const [type, ofType] of Object.entries(OF_TYPE))
      if (ofType.some((word) => words.has(word))) types.add(type);
    for (const { value } of valuesOf(shape)) types.add(value === null ? 'null' : typeof value);
    if (types.size === 0) return undefined;
  }
  return isNullable ? types.add('null') : types;
}

/** The values that alone are allowed, null aside: its type says that. None where any is. */
export function valuesOf({ words }: Pick<Shape, 'words'>): Entry[] {
  const constant = words.get('const');
  if (constant) return [constant];
  return wordsOf(words.get('enum')).filter(({ value }) => value !== null);
}

/** The elements of a list of words, which are their own names. */
function wordsOf(list: Entry | undefined): Entry[] {
  return listOf(list).map(({ value }) => {
    const name = typeof value === 'string' ? value : JSON.stringify(value);
    return { value, at: [...(list?.at ?? []), name] };
  });
}
