import { isRecord } from '#shared/text/json.ts';
import { textOf } from '../changes.ts';
import {
  type At,
  type Comparison,
  type Direction,
  type Entry,
  isSamePlace,
  type Pair,
  resolve,
  sidesOf,
  type Verdict,
} from './comparison.ts';
import { type Shape, shapeOf, valuesOf, wholeVariants } from './schema-shape.ts';

/** Two shapes: what lies in `inner` must lie in `outer`. */
type Shapes = {
  comparison: Comparison;
  pair: Pair;
  isRequest: boolean;
  /** Whether both stand at one place, and where what is said about them is said. */
  isShared: boolean;
  home: At;
  before: Shape;
  after: Shape;
  inner: Shape;
  outer: Shape;
};

/** What breaks: of a word, or of what stands below it. */
type Breakage = {
  word: string;
  below?: [name: string, entry: Entry];
  kind?: Verdict['kind'];
  impact?: Verdict['impact'];
  text: string;
};

/** Says what a client is hurt by: a request that takes less, a response that gives more than was said. */
export function settleSchemas(comparison: Comparison): void {
  for (let pair = comparison.open.pop(); pair; pair = comparison.open.pop())
    compareShapes(comparison, pair);
}

function compareShapes(comparison: Comparison, pair: Pair): void {
  const key = keyOf(comparison, pair);
  if (comparison.seen.has(key)) return;
  comparison.seen.add(key);
  let before = shapeOf({ comparison, side: 'before' }, pair.before);
  let after = shapeOf({ comparison, side: 'after' }, pair.after);
  // One way on the one side and several on the other: each of them is held against the whole.
  const isMixed = before.variants.length > 0 !== after.variants.length > 0;
  if (isMixed)
    [before, after] = [wholeVariants(pair.before, before), wholeVariants(pair.after, after)];
  const isShared = isSamePlace(before, after);
  const shapes = {
    comparison,
    pair,
    isRequest: pair.direction === 'request',
    isShared,
    home: isShared ? before.at : pair.site,
    before,
    after,
    ...sidesOf(pair.direction, before, after),
  };
  for (const rule of isMixed ? [variants] : RULES)
    for (const breakage of rule(shapes)) comparison.say(verdictOf(shapes, breakage));
}

function keyOf(comparison: Comparison, { direction, before, after }: Pair): string {
  const was = resolve({ comparison, side: 'before' }, before);
  const is = resolve({ comparison, side: 'after' }, after);
  return [direction, was.at.join('\n'), is.at.join('\n')].join('\n\n');
}

function verdictOf(
  { before, after, isShared, home }: Shapes,
  { word, below, kind, impact = 'breaking', text }: Breakage,
): Verdict {
  const [was, is] = [before.words.get(word), after.words.get(word)];
  const [name, own] = below ?? [undefined, is ?? was];
  const at = [...home, word, ...(name === undefined ? [] : [name])];
  const either = is ? 'changed' : 'removed';
  return {
    at: isShared && own ? own.at : at,
    kind: kind ?? (was ? either : 'added'),
    impact,
    text,
  };
}

/** `{ "type": "string" }` → `{ "type": "integer" }`, or null that is not taken any more, or given from now on. */
function* types({ isRequest, before, inner, outer }: Shapes): Generator<Breakage> {
  const allowed = outer.types;
  if (before.variants.length > 0 || allowed === undefined) return;
  const names = [...allowed].join(' or ') || 'nothing';
  for (const type of inner.types ?? ['anything']) {
    if (allowed.has(type) || (type === 'integer' && allowed.has('number'))) continue;
    const text = isRequest
      ? `${type} is not accepted any more: ${names} is expected`
      : `it can be ${type} now, where ${names} was promised`;
    yield { word: type === 'null' && before.words.has('nullable') ? 'nullable' : 'type', text };
  }
}

/** `{ "enum": ["a", "b"] }` → `{ "enum": ["a"] }` of a request, the other way round of a response. */
function* values({ isRequest, before, after, inner, outer }: Shapes): Generator<Breakage> {
  const [some, allowed] = [valuesOf(inner), valuesOf(outer)];
  const word = [before, after].some(({ words }) => words.has('const')) ? 'const' : 'enum';
  if (allowed.length > 0 && some.length === 0) {
    const text = 'values can come that were not listed';
    yield { word, text: isRequest ? 'only some values are accepted now' : text };
  }
  const known = new Set(allowed.map(({ value }) => JSON.stringify(value)));
  for (const entry of known.size > 0 ? some : []) {
    const shown = JSON.stringify(entry.value);
    const text = `the value ${shown} ${isRequest ? 'is not accepted any more' : 'can come now'}`;
    const kind = isRequest ? 'removed' : 'added';
    if (!known.has(shown)) yield { word, below: [entry.at.at(-1) ?? '', entry], kind, text };
  }
}

const LIMITS = new Set(
  `maximum exclusiveMaximum maxLength maxItems maxContains maxProperties uniqueItems
   minimum exclusiveMinimum minLength minItems minContains minProperties`.split(/\s+/),
);

/** `{ "maximum": 500 }` → `{ "maximum": 200 }` of a request, the other way round of a response. */
function* limits(shapes: Shapes): Generator<Breakage> {
  const { isRequest, inner, outer } = shapes;
  for (const word of LIMITS) {
    const own = tightnessOf(inner, word);
    const beside = tightnessOf(inner, BESIDE[word] ?? '');
    const allowed = tightnessOf(outer, word);
    const isCovered = word.startsWith('exclusive') ? beside > allowed : beside >= allowed;
    if (allowed > own && !isCovered)
      yield changeOf(shapes, word, `is ${isRequest ? 'narrower' : 'wider'} now`);
  }
}

/** Of two that go together one may stand for the other. */
const BESIDE: Readonly<Record<string, string>> = {
  minimum: 'exclusiveMinimum',
  maximum: 'exclusiveMaximum',
  exclusiveMinimum: 'minimum',
  exclusiveMaximum: 'maximum',
};

/** Grows with what a limit keeps out. */
function tightnessOf({ words }: Shape, word: string): number {
  const value = words.get(word)?.value;
  if (typeof value === 'boolean') return value ? 1 : -Infinity;
  const limit = value === undefined ? NaN : Number(JSON.stringify(value));
  if (Number.isNaN(limit) || (word.startsWith('min') && word !== 'minimum' && limit === 0))
    return -Infinity;
  return /max/i.test(word) ? -limit : limit;
}

function changeOf({ before, after }: Shapes, word: string, what: string): Breakage {
  const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
  const change = textOf({ kind: 'changed', before: was, after: is });
  return { word, text: `\`${word}\` ${what}: ${change}` };
}

const FORMS = ['format', 'multipleOf', 'discriminator'];
/** What keeps values out, and nobody can compare. */
const OPAQUE = ['pattern', 'not', 'if', 'then', 'else', 'dependentRequired'];
/** Formats that keep out nothing that their types have. */
const WIDEST = new Set<unknown>(['int64', 'double', 'password']);

/** `{ "type": "string" }` → `{ "type": "string", "format": "uuid" }` of a request. */
function* forms(shapes: Shapes): Generator<Breakage> {
  for (const word of [...FORMS, ...OPAQUE]) {
    const [some, allowed] = [shapes.inner, shapes.outer].map(({ words }) => words.get(word)?.value);
    if (allowed === undefined || WIDEST.has(allowed) || isWithin(word, some, allowed)) continue;
    const breakage = changeOf(shapes, word, 'is another one');
    const isOpen = OPAQUE.includes(word) && !shapes.isRequest;
    yield isOpen ? { ...breakage, impact: 'unclassified' } : breakage;
  }
}

function isWithin(word: string, some: unknown, allowed: unknown): boolean {
  if (word === 'multipleOf') return Number(some) % Number(allowed) === 0;
  if (word === 'discriminator' && some === undefined) return true;
  const isFloat = some === 'float' && allowed === 'double';
  return isFloat || JSON.stringify(some) === JSON.stringify(allowed);
}

/** A new name in `required` of a request; one that is not there any more in a response. */
function* required({ pair, isRequest, after, inner, outer }: Shapes): Generator<Breakage> {
  for (const [name, entry] of outer.required) {
    const property = outer.properties.get(name);
    const isGone = !isRequest && property !== undefined && !after.properties.has(name);
    const isSame =
      inner.required.has(name) && !isHidden(pair.direction, inner.properties.get(name));
    if (isGone || isSame || isHidden(pair.direction, property)) continue;
    const kind = isRequest ? 'added' : 'removed';
    const text = `the property \`${name}\` ${isRequest ? 'is required' : 'can be missing'} now`;
    yield { word: 'required', below: [name, entry], kind, text };
  }
}

/** A client sends nothing that is `readOnly`, and gets nothing that is `writeOnly`. */
function isHidden(direction: Direction, property: Entry | undefined): boolean {
  const word = direction === 'request' ? 'readOnly' : 'writeOnly';
  return isRecord(property?.value) && property.value[word] === true;
}

/** A property of a response that is gone. That of a request is ignored from now on, or refused. */
function* properties(shapes: Shapes): Generator<Breakage> {
  const { comparison, pair, isRequest, isShared, home, before, after } = shapes;
  const { direction } = pair;
  for (const [name, property] of before.properties) {
    if (isHidden(direction, property)) continue;
    const now = after.properties.get(name);
    const site = isShared ? property.at : [...home, 'properties', name];
    if (now && !isHidden(direction, now)) {
      comparison.open.push({ direction, site, before: property, after: now });
      continue;
    }
    const isRefused = after.words.get('additionalProperties')?.value === false;
    yield {
      word: 'properties',
      below: [name, property],
      kind: 'removed',
      impact: isRequest && !isRefused ? 'unclassified' : 'breaking',
      text: `the property \`${name}\` is ${isRequest ? 'not asked for any more' : 'gone'}`,
    };
  }
}

/** What holds for a part that is not described. */
const OTHERS: Readonly<Record<string, string>> = {
  patternProperties: 'additionalProperties',
  prefixItems: 'items',
};

/** `{}` → `{ "additionalProperties": false }` of a request, and whatever else a value consists of. */
function parts({ comparison, pair, isRequest, home, before, after }: Shapes): Breakage[] {
  const { direction } = pair;
  for (const [name, { at }] of new Map([...before.parts, ...after.parts])) {
    const [was, is] = [before, after].map(({ parts: all }) => {
      const other = all.get(OTHERS[name.split('\n')[0] ?? ''] ?? '');
      return all.get(name) ?? other ?? { value: true, at };
    }) as [Entry, Entry];
    const site = [...home, ...name.split('\n')];
    if (isRequest || was.value !== false)
      comparison.open.push({ direction, site, before: was, after: is });
  }
  return [];
}

/** One of the alternatives in a request is gone; a response can be one from now on. */
function* variants({ comparison, pair, isRequest, inner, outer }: Shapes): Generator<Breakage> {
  const { direction } = pair;
  const pairOf = (one: Entry, other: Entry): Pair => {
    const [before, after] = isRequest ? [one, other] : [other, one];
    return { direction, site: before.at, before, after };
  };
  const texts = new Map(outer.variants.map((one) => [JSON.stringify(one.value), one]));
  const strange = inner.variants.filter((one) => {
    const twin = texts.get(JSON.stringify(one.value));
    if (twin) comparison.open.push(pairOf(one, twin));
    return !twin && !outer.variants.some((other) => isFit(comparison, pairOf(one, other)));
  });
  const [only] = strange;
  const counterpart = only && outer.variants[inner.variants.indexOf(only)];
  const isOne = strange.length === 1 && inner.variants.length === outer.variants.length;
  if (counterpart && isOne) comparison.open.push(pairOf(only, counterpart));
  else if (only) {
    const text = 'it can be something now that is none of the alternatives that were promised';
    yield {
      word: [inner, outer].some(({ words }) => words.has('anyOf')) ? 'anyOf' : 'oneOf',
      text: isRequest ? 'one of the alternatives is not accepted any more' : text,
    };
  }
}

/** Beyond, nothing is said to break. */
const DEPTH_MAX = 32;

/** Whether nothing breaks where the one takes the place of the other; a pair within itself does. */
function isFit(comparison: Comparison, pair: Pair): boolean {
  const key = keyOf(comparison, pair);
  const known = comparison.fits.get(key);
  if (known !== undefined) return known;
  if (comparison.depth === DEPTH_MAX) return true;
  comparison.fits.set(key, true);
  let isBroken = false;
  const say = ({ impact }: Verdict): void => {
    isBroken ||= impact === 'breaking';
  };
  const { depth } = comparison;
  settleSchemas({ ...comparison, say, open: [pair], seen: new Set(), depth: depth + 1 });
  comparison.fits.set(key, !isBroken);
  return !isBroken;
}

const RULES = [types, values, limits, forms, required, properties, parts, variants];
