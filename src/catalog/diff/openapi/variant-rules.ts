/** Rules of alternatives: `oneOf`, `anyOf`, and what tells them apart. */
import { isRecord } from '#shared/text/json.ts';
import {
  type Breakage,
  type Entry,
  membersOf,
  type Pair,
  type Shape,
  type Shapes,
  wholeOf,
} from './comparison.ts';
import { hasValues, kindsOf, shapeOf, textOfValue, valuesOf } from './schema-shape.ts';

/** One of the alternatives in a request is gone; a response can be one from now on. */
export function* variants(shapes: Shapes): Generator<Breakage> {
  const { inner, outer } = shapes;
  const [some, others] = [inner, outer].map((shape) =>
    [shape.variants, ...shape.moreVariants].filter((group) => group.length > 0),
  ) as [Entry[][], Entry[][]];
  if (some.length <= 1 && others.length <= 1) return yield* oneGroup(shapes);
  // Several lists, of each of which one has to fit.
  if (some.length !== others.length) {
    const text = 'several lists of alternatives cannot be compared';
    return yield { word: wordOf(shapes), impact: 'unclassified', text };
  }
  for (const [at, group] of some.entries())
    yield* oneGroup({
      ...shapes,
      inner: { ...inner, variants: group },
      outer: { ...outer, variants: others[at] ?? [] },
    });
}

function* oneGroup(shapes: Shapes): Generator<Breakage> {
  const { comparison, isRequest, inner, outer } = shapes;
  const pairOf = pairIn(shapes);
  const texts = new Map(outer.variants.map((one) => [textOfVariant(one), one]));
  const fits = (one: Entry): boolean =>
    outer.variants.some((other) => shapes.isFit(pairOf(one, other)));
  const strange = inner.variants.filter((one) => {
    const twin = texts.get(textOfVariant(one));
    if (twin) comparison.open.push(pairOf(one, twin));
    return !twin && !fits(one) && !isEach(kindsOf(inner.document, one), fits);
  });
  const [only] = strange;
  const counterpart = only && outer.variants[inner.variants.indexOf(only)];
  const isOne = strange.length === 1 && inner.variants.length === outer.variants.length;
  if (counterpart && isOne) comparison.open.push(pairOf(only, counterpart));
  else if (only) {
    const text = 'it can be something now that is none of the alternatives that were promised';
    yield {
      word: wordOf(shapes),
      text: isRequest ? 'one of the alternatives is not accepted any more' : text,
    };
  } else if (isRequest) yield* overlaps(shapes);
}

function isEach(parts: readonly Entry[], fits: (one: Entry) => boolean): boolean {
  return parts.length > 0 && parts.every(fits);
}

function pairIn({ pair, isRequest }: Shapes) {
  return (one: Entry, other: Entry): Pair => {
    const [before, after] = isRequest ? [one, other] : [other, one];
    return { ...pair, site: before.at, before, after };
  };
}

const wordOf = ({ inner, outer }: Shapes): string =>
  [inner, outer].some(({ words }) => words.has('anyOf')) ? 'anyOf' : 'oneOf';

const textOfVariant = (one: Entry): string =>
  JSON.stringify(wholeOf(one).map(({ value }) => value));

/** A value that fits two of a `oneOf` is refused, where one of them alone had to fit. */
function* overlaps(shapes: Shapes): Generator<Breakage> {
  const { inner, outer, comparison, isFit, pair } = shapes;
  const { after } = comparison;
  if (!outer.words.has('oneOf') || outer.words.has('discriminator')) return;
  const overlapped = overlappedIn(shapes);
  for (const [index, one] of outer.variants.entries())
    for (const other of outer.variants.slice(index + 1)) {
      const [left, right] = [shapeOf(after, one), shapeOf(after, other)];
      if (areApart(left, right)) continue;
      // A value that fits both was refused before, too.
      if (overlapped(one, other)) continue;
      const canBeBoth = (value: Entry): boolean => {
        const shape = shapeOf(comparison.before, value);
        return !areApart(shape, left) && !areApart(shape, right);
      };
      if (!inner.variants.some(canBeBoth)) continue;
      const isKnown =
        [left, right].every(({ types }) => types?.has('object')) ||
        inner.variants.some((value) =>
          [one, other].every((variant) =>
            isFit({ ...pair, site: value.at, before: value, after: variant }),
          ),
        );
      const text = 'what fits several of the alternatives is not accepted any more';
      yield { word: 'oneOf', impact: isKnown ? 'breaking' : 'unclassified', text };
      return;
    }
}

/**
 * True for two alternatives that lie within different ones of a former `oneOf`: the same, the one in its place, else
 * any.
 */
function overlappedIn({ inner, outer, isFit, pair }: Shapes) {
  const all = inner.words.has('oneOf') ? inner.variants : [];
  const same = Map.groupBy(all, textOfValue);
  const formersOf = (variant: Entry, formers: readonly Entry[]): readonly Entry[] =>
    formers.filter((before) =>
      isFit({ ...pair, direction: 'response', site: before.at, before, after: variant }),
    );
  const near = (variant: Entry): readonly Entry[] => {
    const at = outer.variants.indexOf(variant);
    return same.get(textOfValue(variant)) ?? formersOf(variant, all.slice(at, at + 1));
  };
  return (one: Entry, other: Entry): boolean =>
    areSeveral(near(one), near(other)) || areSeveral(formersOf(one, all), formersOf(other, all));
}

function areSeveral(some: readonly Entry[], others: readonly Entry[]): boolean {
  return some.some((one) => others.some((other) => other !== one));
}

const LEVELS_MAX = 3;

/** True when no value can fit both, as far as that can be told. */
function areApart(one: Shape, other: Shape, level = 0): boolean {
  const [types, others] = [one.types, other.types];
  if (types && others && !hasCommonType(types, others)) return true;
  if (hasValues(one) && hasValues(other)) {
    const known = new Set(valuesOf(one).map(textOfValue));
    if (!valuesOf(other).some((value) => known.has(textOfValue(value)))) return true;
  }
  const needed = [...one.required.keys(), ...other.required.keys()];
  return level < LEVELS_MAX && needed.some((name) => isApartBy(name, [one, other], level));
}

function hasCommonType(types: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const wide = [...types].map((type) => (type === 'integer' ? 'number' : type));
  return wide.some((type) => others.has(type) || (type === 'number' && others.has('integer')));
}

/** By a property that one of them must have. */
function isApartBy(name: string, shapes: [Shape, Shape], level: number): boolean {
  const [left, right] = shapes.map(({ document, properties, words }) => {
    const property = properties.get(name);
    const isClosed = wholeOf(words.get('additionalProperties')).some(
      ({ value }) => value === false,
    );
    return property ? shapeOf(document, property) : isClosed;
  });
  if (left === true || right === true) return true;
  return isShape(left) && isShape(right) && areApart(left, right, level + 1);
}

function isShape(found: Shape | boolean | undefined): found is Shape {
  return typeof found === 'object';
}

/** A value that tells alternatives apart is another one now. */
export function* discriminated({ isRequest, inner, outer }: Shapes): Generator<Breakage> {
  if (![inner, outer].every(({ words }) => words.get('discriminator')?.value !== undefined)) return;
  const known = new Set(namesOf(outer).keys());
  if (known.size === 0) return;
  for (const [name, entry] of namesOf(inner)) {
    if (known.has(name)) continue;
    const text = `the value ${JSON.stringify(name)} ${isRequest ? 'is not accepted any more' : 'can come now'}`;
    const kind = isRequest ? ('removed' as const) : ('added' as const);
    yield { word: 'discriminator', below: [name, entry], kind, text };
  }
}

/** Those that a mapping has, and the names of alternatives that it does not name. */
function namesOf({ words, variants }: Shape): Map<string, Entry> {
  const mapped = wholeOf(words.get('mapping')).flatMap(membersOf);
  const targets = new Set(mapped.map(([, { value }]) => schemaNameOf(value)));
  const implicit = variants.flatMap((one): [string, Entry][] => {
    const name = isRecord(one.value) ? schemaNameOf(one.value['$ref']) : undefined;
    return name === undefined || targets.has(name) ? [] : [[name, one]];
  });
  return new Map([...mapped, ...implicit]);
}

function schemaNameOf(reference: unknown): string | undefined {
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}
