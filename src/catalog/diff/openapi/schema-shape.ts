import { isRecord } from '#shared/text/json.ts';
import {
  type Document,
  type Entry,
  entryOf,
  listOf,
  membersOf,
  resolve,
  type Shape,
  wholeOf,
} from './comparison.ts';

/** Names what `shapeOf` makes of an entry: what stands beside a reference is not where that leads to. */
export function keyOfEntry(document: Document, entry: Entry): string {
  const { keys, numbers } = document;
  const known = keys.get(entry);
  if (known !== undefined) return known;
  const places = wholeOf(entry).map((one) => {
    const { at } = resolve(document, one);
    const hasOwn = document.hasSiblings && isRecord(one.value) && Object.keys(one.value).length > 1;
    const own = hasOwn && at !== one.at ? `\n=\n${one.at.join('\n')}` : '';
    const isAny = one.value === true; // may stand where nothing is, or something is on the other side
    const place = `${one.bare ? '-' : '+'}${isAny ? '*' : ''}${at.join('\n')}${own}`;
    const number = numbers.get(place) ?? numbers.size;
    numbers.set(place, number);
    return number;
  });
  const key = `${entry.notNull ? '!' : ''}${places.join('&')}`;
  keys.set(entry, key);
  return key;
}

export function shapeOf(document: Document, entry: Entry): Shape {
  const key = keyOfEntry(document, entry);
  const known = document.shapes.get(key);
  if (known) return known;
  const [words, properties, required, parts] = [new Map(), new Map(), new Map(), new Map()];
  const { at } = resolve(document, entry);
  const shape = { document, at, words, properties, required, parts, pieces: [] };
  const read: Reading = { shape, seen: new Set(), isNullable: false, groups: [] };
  for (const one of wholeOf(entry)) readInto(read, one);
  read.isNullable &&= entry.notNull !== true;
  const groups = read.isNullable ? read.groups.map((group) => withNull(group, at)) : read.groups;
  const [variants = [], ...moreVariants] = groups;
  const whole = { ...shape, types: typesOf(read, entry), variants, moreVariants };
  document.shapes.set(key, whole);
  return whole;
}

type Reading = {
  shape: Omit<Shape, 'types' | 'variants' | 'moreVariants'>;
  seen: Set<unknown>;
  isNullable: boolean;
  groups: Entry[][];
};

/** Of one schema, by references and `allOf`. */
const PARTS_MAX = 500;

function readInto(read: Reading, entry: Entry): void {
  const { value, at, bare } = entry;
  const { document, words, pieces } = read.shape;
  if (read.seen.has(value) || read.seen.size > PARTS_MAX) return;
  read.seen.add(value);
  const target = resolve(document, entry);
  if (target.value !== value) {
    readInto(read, target);
    if (!document.hasSiblings) return;
  }
  // `false` is the schema that nothing fits.
  if (value === false) add(words, 'type', { value: [], at });
  pieces.push({ value, at, bare: true });
  for (const [word, member] of membersOf(entry))
    if (!bare || !COMPOSED.has(word)) readMember(read, word, { member, schema: value as object });
}

function readMember(
  read: Reading,
  word: string,
  { member, schema }: { member: Entry; schema: object },
): void {
  readWord(read, limitOf(word, schema as Record<string, unknown>), member);
  if (word === 'oneOf' || word === 'anyOf') readVariants(read, member, schema);
  read.isNullable ||= word === 'nullable' && member.value === true;
}

const COMPOSED = new Set(['$ref', 'allOf', 'oneOf', 'anyOf']);

/** All that is said of one thing has to hold. */
function add(map: Map<string, Entry>, name: string, entry: Entry): void {
  const former = map.get(name);
  map.set(name, former ? { ...former, also: [...(former.also ?? []), entry] } : entry);
}

/** As it was written before 3.1, an exclusive limit is true, beside the limit. */
function limitOf(word: string, schema: Record<string, unknown>): string {
  if (word === 'minimum' && schema['exclusiveMinimum'] === true) return 'exclusiveMinimum';
  if (word === 'maximum' && schema['exclusiveMaximum'] === true) return 'exclusiveMaximum';
  return word;
}

/** Of 3.1, with which `allOf` is no matter; here all of it is one anyway. */
const SAME = new Map([
  ['unevaluatedProperties', 'additionalProperties'],
  ['unevaluatedItems', 'items'],
]);
const PART = new Set(['additionalProperties', 'items', 'propertyNames']);
const PARTS = new Set(['patternProperties', 'dependentSchemas', 'prefixItems']);

function readWord(read: Reading, written: string, member: Entry): void {
  const { words, parts } = read.shape;
  const word = SAME.get(written) ?? written;
  for (const [name, part] of partsOf(word, member)) add(parts, [word, ...name].join('\n'), part);
  const readOne = Object.hasOwn(READERS, word) ? READERS[word] : undefined;
  if (readOne) readOne(read, member);
  else if (typeof member.value !== 'boolean' || !word.startsWith('exclusive'))
    add(words, ...asOf31(word, member));
}

type ReadWord = (read: Reading, member: Entry) => void;

const READERS: Readonly<Record<string, ReadWord | undefined>> = {
  // Each of several has an element of its own.
  contains: ({ shape: { parts } }, member) => {
    const name = parts.has('contains') ? `contains\n${parts.size}` : 'contains';
    parts.set(name, member);
  },
  properties: ({ shape }, member) => {
    for (const [name, property] of membersOf(member)) add(shape.properties, name, property);
  },
  required: ({ shape }, member) => {
    for (const entry of wordsOf(member)) shape.required.set(String(entry.value), entry);
  },
  allOf: (read, member) => {
    for (const part of listOf(member)) readInto(read, part);
  },
  discriminator: ({ shape: { words } }, member) => {
    add(words, 'mapping', entryOf(member, 'mapping'));
    // In Swagger 2.0 it was the name alone.
    const isName = !isRecord(member.value);
    add(words, 'discriminator', isName ? member : entryOf(member, 'propertyName'));
  },
  type: ({ shape: { words } }, member) => {
    const { value, at } = member;
    if (value === 'file') add(words, 'format', { value: 'binary', at });
    add(words, 'type', value === 'file' ? { value: 'string', at } : member);
  },
};

/** Words of before 3.1, in those of today. */
function asOf31(word: string, member: Entry): [string, Entry] {
  const { value, at } = member;
  if (word === 'contentEncoding' && value === 'base64') return ['format', { value: 'byte', at }];
  if (word === 'contentMediaType' && value === 'application/octet-stream')
    return ['format', { value: 'binary', at }];
  return [word, member];
}

function partsOf(word: string, member: Entry): [name: string[], part: Entry][] {
  if (PART.has(word)) return [[[], member]];
  const listed = listOf(member).map((part, index) => [String(index), part] as const);
  const all = PARTS.has(word) ? [...membersOf(member), ...listed] : [];
  return all.map(([name, part]) => [[name], part]);
}

/** One beside null says that it may be null, unless the type beside them does not; one that is left is no alternative. */
function readVariants(read: Reading, member: Entry, { type = ['null'] }: { type?: unknown }): void {
  const all = listOf(member);
  const others = all.filter((one) => !isNull(one));
  const [only, ...more] = others.length > 0 ? others : all;
  if (only === undefined || more.length > 0) return void read.groups.push(all);
  const canBeNull = Array.isArray(type) && type.includes('null');
  read.isNullable ||= canBeNull && others.length > 0 && others.length < all.length;
  readInto(read, only);
}

function withNull(group: Entry[], at: Entry['at']): Entry[] {
  return group.some(isNull) ? group : [...group, nullAt(at)];
}

const nullAt = (at: Entry['at']): Entry => ({ value: { type: 'null' }, at: [...at, 'null'] });

function isNull({ value }: Entry): boolean {
  const { type, const: constant, enum: list = [constant] } = isRecord(value) ? value : {};
  return String(type) === 'null' || (Array.isArray(list) && list.length === 1 && list[0] === null);
}

/** Words that speak of one type alone. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

/** Further ones, of which a schema without a type means none. */
const OF_PARTS: Readonly<Record<string, readonly string[]>> = {
  object: [
    'required',
    'dependentRequired',
    'dependentSchemas',
    'patternProperties',
    'propertyNames',
  ],
  array: ['contains', 'minContains', 'maxContains'],
};
const TYPE_OF = new Map(
  [OF_TYPE, OF_PARTS]
    .flatMap((all) => Object.entries(all))
    .flatMap(([type, words]) => words.map((word) => [word, type] as const)),
);

/** False for a word that keeps out no value of the shape, which has none of the word's type. */
export function concerns(word: string, { types }: Shape): boolean {
  const type = TYPE_OF.get(word);
  if (type === undefined || types === undefined) return true;
  return types.has(type) || (type === 'number' && types.has('integer'));
}

/** A schema without a type has that of its other words. Null has to stand in a list of values, too. */
function typesOf({ shape, isNullable }: Reading, { notNull }: Entry): Shape['types'] {
  const written = wholeOf(shape.words.get('type')).map(({ value }) =>
    (Array.isArray(value) ? value : [value]).map(String),
  );
  const types = new Set(written.length > 0 ? written.reduce(commonTypes) : typesMeant(shape));
  if (written.length === 0 && types.size === 0) return undefined;
  if (isNullable) return types.add('null');
  if (notNull || (hasValues(shape) && !listsNull(shape))) types.delete('null');
  return types;
}

function typesMeant(shape: Pick<Shape, 'words' | 'properties' | 'required'>): string[] {
  const { words, properties, required } = shape;
  const { value: format } = words.get('format') ?? {};
  return [
    ...(properties.size + required.size > 0 ? ['object'] : []),
    ...Object.entries(OF_TYPE)
      .filter(([, ofType]) => ofType.some((word) => words.has(word)))
      .map(([type]) => type),
    ...(format === 'binary' || format === 'byte' ? ['string'] : []),
    ...valuesOf(shape).map(({ value }) => (value === null ? 'null' : typeof value)),
  ];
}

/** Every whole number is a number. */
function commonTypes(some: readonly string[], others: readonly string[]): string[] {
  const within = (one: readonly string[], other: readonly string[]): string[] =>
    one.filter((type) => other.includes(type) || (type === 'integer' && other.includes('number')));
  return [...within(some, others), ...within(others, some)];
}

/** The values that alone are allowed. None where any is. */
export function valuesOf({ words }: Pick<Shape, 'words'>): Entry[] {
  const lists = [
    ...wholeOf(words.get('const')).map((one) => [one]),
    ...wholeOf(words.get('enum')).map((list) => wordsOf(list)),
  ];
  const [first = [], ...others] = lists;
  const known = others.map((list) => new Set(list.map(textOfValue)));
  return first.filter((one) => known.every((texts) => texts.has(textOfValue(one))));
}

/** True when a list of values stands there; after several that have nothing in common an empty one. */
export function hasValues({ words }: Pick<Shape, 'words'>): boolean {
  return words.has('const') || words.has('enum');
}

export function listsNull(shape: Pick<Shape, 'words'>): boolean {
  return valuesOf(shape).some(({ value }) => value === null);
}

export function textOfValue({ value }: Entry): string {
  return JSON.stringify(value);
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
  const variants = shape.variants.map((one) => ({
    ...one,
    also: [...(one.also ?? []), ...shape.pieces],
  }));
  return { ...shape, variants };
}

/** Longer lists of values are one. */
const VALUES_MAX = 64;

/** Its own alternatives, its values or its types, each a schema. None where it is one thing. */
export function kindsOf(document: Document, entry: Entry): Entry[] {
  const shape = shapeOf(document, entry);
  if (shape.moreVariants.length > 0) return [];
  if (shape.variants.length > 0) return wholeVariants(entry, shape).variants;
  const values = valuesOf(shape).filter(({ value }) => value !== null);
  const kinds = (values.length > VALUES_MAX ? [] : values).map((one): [string, object] => [
    textOfValue(one),
    { const: one.value },
  ]);
  const types = [...(shape.types ?? [])].filter((type) => type !== 'null');
  const ofTypes = types.map((type): [string, object] => [type, { type }]);
  const all = kinds.length > 0 ? kinds : ofTypes;
  const isNullable = shape.types?.has('null') === true;
  if (all.length + (isNullable ? 1 : 0) < 2) return [];
  const parts = all.map(([name, value]) => partOf(entry, name, value));
  return isNullable ? [...parts, nullAt(entry.at)] : parts;
}

function partOf(entry: Entry, name: string, value: object): Entry {
  return { value, at: [...entry.at, name], also: wholeOf(entry), notNull: true };
}
