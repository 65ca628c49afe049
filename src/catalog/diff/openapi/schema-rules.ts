import {
  type Breakage,
  type Comparison,
  type Entry,
  isSamePlace,
  type Pair,
  type Shape,
  type Shapes,
  sidesOf,
  type Verdict,
  wholeOf,
} from './comparison.ts';
import { concerns, keyOfEntry, shapeOf, wholeVariants } from './schema-shape.ts';
import { discriminated, variants } from './variant-rules.ts';
import { forms, limits, types, values } from './word-rules.ts';

/** Says what a client is hurt by: a request that takes less, a response that gives more than was said. */
export function settleSchemas(comparison: Comparison): void {
  for (let pair = comparison.open.pop(); pair; pair = comparison.open.pop())
    compareShapes(comparison, pair);
}

function compareShapes(comparison: Comparison, pair: Pair): void {
  if (isAlike(comparison, pair)) return;
  const key = keyOf(comparison, pair);
  if (comparison.seen.has(key)) return;
  comparison.seen.add(key);
  let before = shapeOf(comparison.before, pair.before);
  let after = shapeOf(comparison.after, pair.after);
  if (isListOfOne(pair, before, after)) {
    const one = after.parts.get('items') ?? { value: true, at: after.at };
    return void comparison.open.push({ ...pair, isRepeated: false, after: one });
  }
  const isMixed = areMixed(sidesOf(pair.direction, before, after));
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
    isFit: (one: Pair) => isFit(comparison, one),
  };
  for (const rule of isMixed ? [variants] : RULES)
    for (const breakage of rule(shapes)) comparison.say(verdictOf(shapes, breakage));
}

/** True for one value that is a list of one from now on, which is written alike. */
function isListOfOne({ direction, isRepeated }: Pair, before: Shape, after: Shape): boolean {
  if (direction !== 'request' || !isRepeated || !before.types) return false;
  const isOne = !before.types.has('array') && !before.types.has('object');
  const isList =
    after.types?.size === 1 && after.types.has('array') && !after.words.has('minItems');
  return isOne && isList;
}

/**
 * True where each alternative is held against the whole: for one way on the one side and several on the other, and
 * where the types beside them do not tell.
 */
function areMixed({ inner, outer }: Record<'inner' | 'outer', Shape>): boolean {
  const [some, others] = [inner, outer].map(({ variants: all }) => all.length > 0);
  const isOpen = [inner, outer].some(({ moreVariants }) => moreVariants.length > 0);
  if (isOpen || !(some || others)) return false;
  return some !== others || !isWithin(inner.types, outer.types);
}

function isWithin(types: Shape['types'], allowed: Shape['types']): boolean {
  return allowed === undefined || [...(types ?? ['anything'])].every((type) => allowed.has(type));
}

function isAlike({ areAlike }: Comparison, { before, after }: Pair): boolean {
  const [some, others] = [wholeOf(before), wholeOf(after)];
  return (
    some.length === others.length &&
    before.notNull === after.notNull &&
    some.every((one, at) => one.bare === others[at]?.bare && areAlike(one.value, others[at]?.value))
  );
}

function keyOf(
  comparison: Comparison,
  { direction, isText, isRepeated, before, after }: Pair,
): string {
  const was = keyOfEntry(comparison.before, before);
  const is = keyOfEntry(comparison.after, after);
  return [`${direction} ${isText} ${isRepeated}`, was, is].join('\n\n');
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

/** A new name in `required` of a request; one that is not there any more in a response. */
function* required({ pair, isRequest, after, inner, outer }: Shapes): Generator<Breakage> {
  if (!concerns('required', inner)) return;
  for (const [name, entry] of outer.required) {
    const isGone = !isRequest && outer.properties.has(name) && !after.properties.has(name);
    const isSame = inner.required.has(name) && !isHidden(pair, inner, name);
    if (isGone || isSame || isHidden(pair, outer, name)) continue;
    const kind = isRequest ? 'added' : 'removed';
    const text = `the property \`${name}\` ${isRequest ? 'is required' : 'can be missing'} now`;
    yield { word: 'required', below: [name, entry], kind, text };
  }
}

/** A client sends nothing that is `readOnly`, and gets nothing that is `writeOnly`. */
function isHidden({ direction }: Pair, { document, properties }: Shape, name: string): boolean {
  const property = properties.get(name);
  const word = direction === 'request' ? 'readOnly' : 'writeOnly';
  return (
    property !== undefined &&
    wholeOf(shapeOf(document, property).words.get(word)).some(({ value }) => value === true)
  );
}

/** A property of a response that is gone. That of a request is ignored from now on, or refused. */
function* properties(shapes: Shapes): Generator<Breakage> {
  const { comparison, pair, isRequest, isShared, home, before, after } = shapes;
  for (const [name, property] of before.properties) {
    if (isHidden(pair, before, name)) continue;
    const now = after.properties.get(name);
    const site = isShared ? property.at : [...home, 'properties', name];
    if (now && !isHidden(pair, after, name)) {
      comparison.open.push({ ...pair, site, before: property, after: now });
      continue;
    }
    const isRefused = wholeOf(after.words.get('additionalProperties')).some(
      ({ value }) => value === false,
    );
    yield {
      word: 'properties',
      below: [name, property],
      kind: 'removed',
      impact: isRequest && !isRefused ? 'unclassified' : 'breaking',
      text: `the property \`${name}\` is ${isRequest ? 'not asked for any more' : 'gone'}`,
    };
  }
}

/** Words that hold for a part that is not described. */
const OTHERS: Readonly<Record<string, string>> = {
  patternProperties: 'additionalProperties',
  prefixItems: 'items',
};

/** `{}` → `{ "additionalProperties": false }` of a request, and whatever else a value consists of. */
function parts({ comparison, pair, isRequest, home, before, after, inner }: Shapes): Breakage[] {
  for (const [name, { at }] of new Map([...before.parts, ...after.parts])) {
    if (!concerns(name.split('\n')[0] ?? '', inner)) continue;
    const [was, is] = [before, after].map(({ parts: all }) => {
      const other = all.get(OTHERS[name.split('\n')[0] ?? ''] ?? '');
      return all.get(name) ?? other ?? { value: true, at };
    }) as [Entry, Entry];
    const site = [...home, ...name.split('\n')];
    if (isRequest || was.value !== false)
      comparison.open.push({ ...pair, site, before: was, after: is });
  }
  return [];
}

/** Beyond, nothing is said to break. */
const DEPTH_MAX = 32;

/** True when nothing breaks where the one takes the place of the other; also for a pair within itself. */
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

const RULES = [types, values, limits, forms, required, properties, parts, variants, discriminated];
