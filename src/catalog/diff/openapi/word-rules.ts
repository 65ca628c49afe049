import { isRecord } from '#shared/text/json.ts';
import { describeDifference } from '../changes.ts';
import { type Breakage, type Shape, type Shapes, wholeOf } from './comparison.ts';
import { concerns, hasValues, listsNull, textOfValue, valuesOf } from './schema-shape.ts';

/** `{ "type": "string" }` → `{ "type": "integer" }`, or null that is not taken any more, or given from now on. */
export function* types(shapes: Shapes): Generator<Breakage> {
  const { isRequest, before, outer } = shapes;
  if (outer.types === undefined) return;
  const impact = before.variants.length > 0 ? 'unclassified' : 'breaking';
  const names = [...outer.types].join(' or ') || 'nothing';
  for (const type of strangeTypes(shapes, outer.types)) {
    const text = isRequest
      ? `${type} is not accepted any more: ${names} is expected`
      : `it can be ${type} now, where ${names} was promised`;
    const word = type === 'null' && before.words.has('nullable') ? 'nullable' : 'type';
    yield { word, impact, text };
  }
}

/** Without null where it stands in a list: the rule of values tells of it. */
function strangeTypes({ pair, inner, outer }: Shapes, allowed: ReadonlySet<string>): string[] {
  const isTold = hasValues(outer) && !listsNull(outer) && listsNull(inner);
  const isAllowed = (type: string): boolean =>
    allowed.has(type) ||
    (type === 'integer' && allowed.has('number')) ||
    (pair.isText === true && TEXTS.has(type) && allowed.has('string')) ||
    (type === 'null' && isTold);
  return [...(inner.types ?? ['anything'])].filter((type) => !isAllowed(type));
}

/** Types whose values are texts, too, where they travel as text. */
const TEXTS = new Set(['integer', 'number', 'boolean']);

/** `{ "enum": ["a", "b"] }` → `{ "enum": ["a"] }` of a request, the other way round of a response. */
export function* values({ isRequest, before, after, inner, outer }: Shapes): Generator<Breakage> {
  if (!mustBeListed(inner, outer)) return;
  const word = [before, after].some(({ words }) => words.has('const')) ? 'const' : 'enum';
  if (!hasValues(inner)) {
    const text = 'values can come that were not listed';
    yield { word, text: isRequest ? 'only some values are accepted now' : text };
  }
  const known = new Set(valuesOf(outer).map(textOfValue));
  if (outer.types?.has('null')) known.add('null');
  for (const entry of valuesOf(inner)) {
    const shown = textOfValue(entry);
    const text = `the value ${shown} ${isRequest ? 'is not accepted any more' : 'can come now'}`;
    const kind = isRequest ? 'removed' : 'added';
    if (!known.has(shown)) yield { word, below: [entry.at.at(-1) ?? '', entry], kind, text };
  }
}

/** Types alone tell of what is null and nothing else. */
function mustBeListed({ types }: Shape, outer: Shape): boolean {
  const isNull = types?.size === 1 && types.has('null') && outer.types?.has('null') === true;
  return hasValues(outer) && !isNull;
}

const LIMITS = new Set(
  `maximum exclusiveMaximum maxLength maxItems maxContains maxProperties uniqueItems
   minimum exclusiveMinimum minLength minItems minContains minProperties`.split(/\s+/),
);

/** `{ "maximum": 500 }` → `{ "maximum": 200 }` of a request, the other way round of a response. */
export function* limits(shapes: Shapes): Generator<Breakage> {
  const { isRequest, inner, outer } = shapes;
  for (const word of LIMITS) {
    if (!outer.words.has(word) || !concerns(word, inner)) continue;
    const own = tightestOf(inner, word);
    const counterpart = tightestOf(inner, COUNTERPARTS[word] ?? '');
    const allowed = tightestOf(outer, word);
    const isTighter = compareNumbers(allowed, own) > 0;
    const covering = compareNumbers(counterpart, allowed);
    const isCovered = word.startsWith('exclusive') ? covering > 0 : covering >= 0;
    if (isTighter && !isCovered)
      yield changeOf(shapes, word, `is ${isRequest ? 'narrower' : 'wider'} now`);
  }
}

/** Of two that go together one may stand for the other. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  minimum: 'exclusiveMinimum',
  maximum: 'exclusiveMaximum',
  exclusiveMinimum: 'minimum',
  exclusiveMaximum: 'maximum',
};

/** A number that grows with what a limit keeps out, digit by digit as it is written. */
function tightestOf({ words }: Shape, word: string): string {
  const all = wholeOf(words.get(word)).map(({ value }) => tightnessOf(value, word));
  return all.reduce((one, other) => (compareNumbers(one, other) < 0 ? other : one), '-Infinity');
}

function tightnessOf(value: unknown, word: string): string {
  if (typeof value === 'boolean') return value ? '1' : '-Infinity';
  const text = value === undefined ? 'NaN' : JSON.stringify(value);
  const isNone = word.startsWith('min') && word !== 'minimum' && Number(text) === 0;
  if (Number.isNaN(Number(text)) || isNone) return '-Infinity';
  if (!/max/i.test(word)) return text;
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
}

/** Whole numbers of any length to the last digit. */
function compareNumbers(one: string, other: string): number {
  const areWhole = [one, other].every((text) => /^-?\d+$/.test(text));
  const [left, right] = areWhole ? [BigInt(one), BigInt(other)] : [Number(one), Number(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const FORMS = ['format', 'multipleOf', 'discriminator'];
/** Words that keep values out, and that nobody can compare. */
const OPAQUE = ['pattern', 'not', 'if', 'then', 'else', 'dependentRequired'];
/** Formats that keep out nothing that their types have. */
const WIDEST = new Set<unknown>(['int64', 'double', 'password']);

/** `{ "type": "string" }` → `{ "type": "string", "format": "uuid" }` of a request. */
export function* forms(shapes: Shapes): Generator<Breakage> {
  for (const word of [...FORMS, ...OPAQUE]) {
    if (!shapes.outer.words.has(word) || !concerns(word, shapes.inner)) continue;
    const [some, allowed] = [shapes.inner, shapes.outer].map(({ words }) =>
      wholeOf(words.get(word)).map(({ value }) => value),
    ) as [unknown[], unknown[]];
    const isFine = allowed.every(
      (value) =>
        value === undefined ||
        WIDEST.has(value) ||
        (some.length > 0 ? some : [undefined]).some((one) => isWithin(word, one, value)),
    );
    if (isFine) continue;
    const breakage = changeOf(shapes, word, 'is another one');
    const isOpen = OPAQUE.includes(word) && !shapes.isRequest;
    yield isOpen ? { ...breakage, impact: 'unclassified' } : breakage;
  }
}

/** A schema without words for people, whose names are in order. */
function bareOf(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bareOf(one));
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => areNames || !PROSE.has(name));
  return Object.fromEntries(
    names.toSorted().map((name) => [name, bareOf(value[name], !areNames && NAMED.has(name))]),
  );
}

const PROSE = new Set(['description', 'title', 'example', 'examples', '$comment']);
/** Words below which the owner gives the names. */
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'const']);

function isWithin(word: string, some: unknown, allowed: unknown): boolean {
  if (word === 'multipleOf') return Number(some) % Number(allowed) === 0;
  if (word === 'discriminator' && some === undefined) return true;
  const isFloat = some === 'float' && allowed === 'double';
  return isFloat || JSON.stringify(bareOf(some)) === JSON.stringify(bareOf(allowed));
}

/** The break by another value of a word. */
function changeOf({ before, after }: Shapes, word: string, what: string): Breakage {
  const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
  const change = describeDifference({ kind: 'changed', before: was, after: is });
  return { word, text: `\`${word}\` ${what}: ${change}` };
}
