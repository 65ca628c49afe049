import { isRecord } from '#shared/text/json.ts';
import { resolve } from './comparison.ts';
import type { At, Comparison, Direction, Entry, Pair, Verdict } from './comparison.ts';
import { LIMITS, tightness } from './limits.ts';
import { listOf, shapeOf, valuesOf } from './schema-shape.ts';
import type { Shape } from './schema-shape.ts';

/** Two shapes, and where what is said about them is said. */
type Shapes = {
  pair: Pair;
  home: At;
  isShared: boolean;
  placeOf: (word: string) => At;
  before: Shape;
  after: Shape;
};

type Rule = (comparison: Comparison, shapes: Shapes) => void;

/** Says what a client is hurt by: a request that takes less, a response that gives more than was said. */
export function settleSchemas(comparison: Comparison): void {
  for (let pair = comparison.open.pop(); pair; pair = comparison.open.pop())
    compareShapes(comparison, pair);
}

/** Notes that two schemas are to be compared: chains of references are longer than a stack is deep. */
export function compareSchemas({ open }: Comparison, pair: Pair): void {
  open.push(pair);
}

function compareShapes(comparison: Comparison, pair: Pair): void {
  const key = keyOf(comparison, pair);
  if (comparison.seen.has(key)) return;
  comparison.seen.add(key);
  const before = shapeOf(comparison, 'before', pair.before);
  const after = shapeOf(comparison, 'after', pair.after);
  const isShared = before.at.join('\n') === after.at.join('\n');
  const home = isShared ? before.at : pair.site;
  const placeOf = (word: string): At => {
    const entry = isShared ? (after.words.get(word) ?? before.words.get(word)) : undefined;
    return entry?.at ?? [...home, word];
  };
  // One way on the one side and several on the other: each of them is held against the whole.
  const isMixed = before.variants.length > 0 !== after.variants.length > 0;
  for (const rule of isMixed ? [variants] : RULES)
    rule(comparison, { pair, home, isShared, placeOf, before, after });
}

function keyOf(comparison: Comparison, { direction, before, after }: Pair): string {
  const ends = [resolve(comparison, 'before', before), resolve(comparison, 'after', after)];
  return [direction, ...ends.map(({ at }) => at.join('\n'))].join('\n\n');
}

/** The one side must lie within the other: what was sent within what is taken, what is given within what was said. */
function sidesOf<T>(direction: Direction, before: T, after: T): { inner: T; outer: T } {
  return direction === 'request'
    ? { inner: before, outer: after }
    : { inner: after, outer: before };
}

/** `{ "type": "string" }` → `{ "type": "integer" }`, or null that is not taken any more, or given from now on. */
const types: Rule = ({ say }, { pair, placeOf, before, after }) => {
  const { inner, outer } = sidesOf(pair.direction, before.types, after.types);
  if (before.variants.length > 0 || outer === undefined) return;
  for (const type of inner ?? ['anything'])
    if (!isWithin(type, outer))
      say({
        at: placeOf(type === 'null' && before.words.has('nullable') ? 'nullable' : 'type'),
        kind: 'changed',
        impact: 'breaking',
        text:
          pair.direction === 'request'
            ? `${type} is not accepted any more: ${namesOf(outer)} is expected`
            : `it can be ${type} now, where ${namesOf(outer)} was promised`,
      });
};

function isWithin(type: string, types: Shape['types']): boolean {
  return types === undefined || types.has(type) || (type === 'integer' && types.has('number'));
}

const namesOf = (types: Shape['types']): string =>
  [...(types ?? ['anything'])].join(' or ') || 'nothing';

/** `{ "enum": ["a", "b"] }` → `{ "enum": ["a"] }` of a request, the other way round of a response. */
const values: Rule = ({ say }, { pair, isShared, placeOf, before, after }) => {
  const { inner, outer } = sidesOf(pair.direction, valuesOf(before), valuesOf(after));
  if (outer.length === 0) return;
  const isRequest = pair.direction === 'request';
  const kind = isRequest ? 'removed' : 'added';
  const word = [before, after].some(({ words }) => words.has('const')) ? 'const' : 'enum';
  const impact = 'breaking';
  if (inner.length === 0) {
    const text = isRequest
      ? 'only some values are accepted now'
      : 'values can come that were not listed';
    say({ at: placeOf(word), kind: isRequest ? 'added' : 'removed', impact, text });
    return;
  }
  const known = new Set(outer.map(({ value }) => JSON.stringify(value)));
  for (const { value, at } of inner) {
    const shown = JSON.stringify(value);
    const text = `the value ${shown} ${isRequest ? 'is not accepted any more' : 'can come now'}`;
    if (!known.has(shown)) say({ at: isShared ? at : placeOf(word), kind, impact, text });
  }
};

/** `{ "maximum": 500 }` → `{ "maximum": 200 }` of a request, the other way round of a response. */
const limits: Rule = ({ say }, { pair, placeOf, before, after }) => {
  for (const word of LIMITS) {
    const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
    const { inner, outer } = sidesOf(pair.direction, was, is);
    if (tightness(word, outer) <= tightness(word, inner)) continue;
    const how = pair.direction === 'request' ? 'narrower' : 'wider';
    say(changeOf(placeOf(word), { word, was, is }, `is ${how} now`));
  }
};

type Changed = { word: string; was: unknown; is: unknown };

function changeOf(at: At, { word, was, is }: Changed, what: string): Verdict {
  const [from, to] = [was, is].map((value) => JSON.stringify(value) ?? 'nothing');
  const either = is === undefined ? 'removed' : 'changed';
  const kind = was === undefined ? 'added' : either;
  return { at, kind, impact: 'breaking', text: `\`${word}\` ${what}: from ${from} to ${to}` };
}

/** Formats that keep out nothing that their types have. */
const WIDEST = new Set<unknown>(['int64', 'double', 'password']);

/** `{ "type": "string" }` → `{ "type": "string", "format": "uuid" }` of a request. Patterns nobody can compare. */
const forms: Rule = ({ say }, { pair, placeOf, before, after }) => {
  for (const word of ['format', 'pattern', 'multipleOf']) {
    const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
    const { inner, outer } = sidesOf(pair.direction, was, is);
    if (outer === undefined || WIDEST.has(outer) || isForm(word, inner, outer)) continue;
    const change = changeOf(placeOf(word), { word, was, is }, 'is another one');
    const isOpen = word === 'pattern' && pair.direction === 'response';
    say(isOpen ? { ...change, impact: 'unclassified' } : change);
  }
};

function isForm(word: string, inner: unknown, outer: unknown): boolean {
  if (word === 'multipleOf') return Number(inner) % Number(outer) === 0;
  return inner === outer || (inner === 'float' && outer === 'double');
}

/** A new name in `required` of a request; one that is not there any more in a response. */
const required: Rule = ({ say }, { pair, isShared, placeOf, before, after }) => {
  const isRequest = pair.direction === 'request';
  const [now, then] = isRequest ? [after, before] : [before, after];
  for (const [name, { at }] of now.required) {
    const isGone = !isRequest && before.properties.has(name) && !after.properties.has(name);
    if (isGone || then.required.has(name) || isHidden(pair.direction, now.properties.get(name)))
      continue;
    const said = isRequest ? 'is required now' : 'can be missing now';
    say({
      at: isShared ? at : placeOf('required'),
      kind: isRequest ? 'added' : 'removed',
      impact: 'breaking',
      text: `the property \`${name}\` ${said}`,
    });
  }
};

/** A client sends nothing that is `readOnly`, and gets nothing that is `writeOnly`. */
function isHidden(direction: Direction, property: Entry | undefined): boolean {
  const word = direction === 'request' ? 'readOnly' : 'writeOnly';
  return isRecord(property?.value) && property.value[word] === true;
}

/** A property of a response that is gone. That of a request is ignored from now on, or refused. */
const properties: Rule = (comparison, { pair, home, isShared, before, after }) => {
  const { direction } = pair;
  for (const [name, property] of before.properties) {
    const now = after.properties.get(name);
    if (isHidden(direction, property)) continue;
    const site = isShared ? property.at : [...home, 'properties', name];
    if (now && !isHidden(direction, now)) {
      compareSchemas(comparison, { direction, site, before: property, after: now });
      continue;
    }
    const isKnown = direction === 'response' || isClosed(after);
    comparison.say({
      at: site,
      kind: 'removed',
      impact: isKnown ? 'breaking' : 'unclassified',
      text: `the property \`${name}\` ${direction === 'response' ? 'is gone' : 'is not asked for any more'}`,
    });
  }
};

function isClosed({ words }: Shape): boolean {
  return CLOSING.some((word) => words.get(word)?.value === false);
}

const CLOSING = ['additionalProperties', 'unevaluatedProperties'];

/** `additionalProperties: false` of a request. */
const closing: Rule = (comparison, { pair, placeOf, before, after }) => {
  if (pair.direction === 'request' && isClosed(after) && !isClosed(before))
    comparison.say({
      at: placeOf(CLOSING.find((word) => after.words.has(word)) ?? ''),
      kind: 'changed',
      impact: 'breaking',
      text: 'other properties than those listed are not accepted any more',
    });
};

const ANYTHING: Entry = { value: true, at: [] };

/** The schemas of further properties and of elements. */
const parts: Rule = (comparison, { pair, placeOf, before, after }) => {
  const { direction } = pair;
  for (const word of ['additionalProperties', 'items']) {
    const [was = ANYTHING, is = ANYTHING] = [before, after].map(({ words }) => words.get(word));
    if (was !== is && was.value !== false && is.value !== false)
      compareSchemas(comparison, { direction, site: placeOf(word), before: was, after: is });
  }
  const [was = [], is = []] = [before, after].map(({ words }) => listOf(words.get('prefixItems')));
  for (const [index, one] of was.entries()) {
    const now = is[index];
    const site = [...placeOf('prefixItems'), String(index)];
    if (now) compareSchemas(comparison, { direction, site, before: one, after: now });
  }
};

/** An alternative of a request that is gone, one that a response can be from now on. */
const variants: Rule = (comparison, { pair, placeOf, before, after }) => {
  const { direction } = pair;
  const isMixed = before.variants.length > 0 !== after.variants.length > 0;
  const was = isMixed ? wholeVariants(pair.before, before) : before.variants;
  const is = isMixed ? wholeVariants(pair.after, after) : after.variants;
  const { inner, outer } = sidesOf(direction, was, is);
  const pairOf = (one: Entry, other: Entry): Pair => {
    const [first, second] = direction === 'request' ? [one, other] : [other, one];
    return { direction, site: first.at, before: first, after: second };
  };
  const texts = new Map(outer.map((one) => [JSON.stringify(one.value), one]));
  const strange = inner.filter((one) => {
    const twin = texts.get(JSON.stringify(one.value));
    if (twin) compareSchemas(comparison, pairOf(one, twin));
    return !twin && !outer.some((other) => isFit(comparison, pairOf(one, other)));
  });
  const [only] = strange;
  const counterpart = only && outer[inner.indexOf(only)];
  if (counterpart && strange.length === 1 && inner.length === outer.length)
    compareSchemas(comparison, pairOf(only, counterpart));
  else if (strange.length > 0)
    comparison.say({
      at: placeOf([before, after].some(({ words }) => words.has('anyOf')) ? 'anyOf' : 'oneOf'),
      kind: 'changed',
      impact: 'breaking',
      text:
        direction === 'request'
          ? 'one of the alternatives is not accepted any more'
          : 'it can be something now that is none of the alternatives that were promised',
    });
};

/** The alternatives, each with what is said beside them; the schema itself where there are none. */
function wholeVariants(entry: Entry, { variants: all }: Shape): Entry[] {
  if (all.length === 0) return [entry];
  if (!isRecord(entry.value)) return all;
  const { oneOf: _one, anyOf: _any, ...beside } = entry.value;
  return all.map(({ value, at }) => ({ value: { allOf: [beside, value] }, at }));
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

const RULES = [types, values, limits, forms, required, properties, closing, parts, variants];
