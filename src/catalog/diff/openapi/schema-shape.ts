import { isRecord } from '#shared/text/json.ts';
import { type Document, type Entry, entryOf, listOf, membersOf, resolve } from './comparison.ts';

/** A schema with what it refers to and all of its `allOf` in one. */
export type Shape = {
  /** Where it stands once its references are followed. */
  at: Entry['at'];
  words: Map<string, Entry>;
  properties: Map<string, Entry>;
  required: Map<string, Entry>;
  /** The schemas of what it consists of besides, by where they stand in it. */
  parts: Map<string, Entry>;
  /** Undefined for every type. */
  types: ReadonlySet<string> | undefined;
  /** Of `oneOf` or `anyOf`; none where there is but one way. */
  variants: Entry[];
};

export function shapeOf(document: Document, entry: Entry): Shape {
  const { at } = resolve(document, entry);
  const [words, properties, required, parts] = [new Map(), new Map(), new Map(), new Map()];
  const shape = { at, words, properties, required, parts };
  const read: Reading = { ...document, shape, seen: new Set(), isNullable: false };
  readInto(read, entry);
  return { ...shape, types: typesOf(read), variants: read.variants ?? [] };
}

type Reading = Document & {
  shape: Omit<Shape, 'types' | 'variants'>;
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
  const target = resolve(read, entry);
  if (target.value !== value) readInto(read, target);
  // `false` is the schema that nothing fits.
  if (value === false) read.shape.words.set('type', { value: [], at });
  for (const [word, member] of membersOf(entry)) {
    readWord(read, word, member);
    if (word === 'oneOf' || word === 'anyOf') readVariants(read, member);
    read.isNullable ||= word === 'nullable' && member.value === true;
  }
  if (isRecord(value)) readExclusive(read.shape.words);
}

/** Of 3.1, with which `allOf` is no matter; here all of it is one anyway. */
const SAME: Readonly<Record<string, string>> = {
  unevaluatedProperties: 'additionalProperties',
  unevaluatedItems: 'items',
};
const PART = new Set(['additionalProperties', 'items', 'propertyNames', 'contains']);
const PARTS = new Set(['patternProperties', 'dependentSchemas', 'prefixItems']);

function readWord(read: Reading, written: string, member: Entry): void {
  const { words, properties, required, parts } = read.shape;
  const word = SAME[written] ?? written;
  for (const [name, part] of partsOf(word, member)) parts.set([word, ...name].join('\n'), part);
  if (word === 'properties')
    for (const [name, property] of membersOf(member)) properties.set(name, property);
  else if (word === 'required')
    for (const entry of wordsOf(member)) required.set(String(entry.value), entry);
  else if (word === 'allOf') for (const part of listOf(member)) readInto(read, part);
  else words.set(word, word === 'discriminator' ? entryOf(member, 'propertyName') : member);
}

function partsOf(word: string, member: Entry): [name: string[], part: Entry][] {
  if (PART.has(word)) return [[[], member]];
  const listed = listOf(member).map((part, index) => [String(index), part] as const);
  const all = PARTS.has(word) ? [...membersOf(member), ...listed] : [];
  return all.map(([name, part]) => [[name], part]);
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
  const written = words.get('type')?.value;
  const types = new Set<string>(Array.isArray(written) ? written.map(String) : []);
  if (typeof written === 'string') types.add(written);
  if (written === undefined) {
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

/** The alternatives, each with what is said beside them; the schema itself where there are none. */
export function wholeVariants(entry: Entry, shape: Shape): Shape {
  if (shape.variants.length === 0) return { ...shape, variants: [entry] };
  if (!isRecord(entry.value)) return shape;
  const { oneOf: _one, anyOf: _any, ...beside } = entry.value;
  const wholeOf = ({ value, at }: Entry): Entry => ({ value: { allOf: [beside, value] }, at });
  return { ...shape, variants: shape.variants.map(wholeOf) };
}
