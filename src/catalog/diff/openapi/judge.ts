import { type Change, type Difference, type Impact, pointerOf, toChange } from '../changes.ts';
import { type At, type Comparison, isSamePlace, sidesOf, type Verdict } from './comparison.ts';
import { type Part, partsOf } from './operation-parts.ts';
import { settleSchemas } from './schema-rules.ts';

type Json = Record<string, unknown>;

/** Words for people, and what is shown to them. */
const PROSE = new Set(
  'description summary title example examples externalDocs info tags deprecated'.split(' '),
);
/** What no rule looks at, and what stands below. */
const OPEN = new Set(
  'default xml links servers operationId encoding host basePath schemes discriminator'.split(' '),
);
/** What stands below these is named by the owner. */
const NAMES = new Set(
  'properties responses schemas definitions patternProperties headers paths enum'.split(' '),
);
const DEFINITIONS = new Set([
  'components',
  'definitions',
  'parameters',
  'responses',
  'securityDefinitions',
]);

/**
 * What changed between two OpenAPI documents: what a rule says, in its words, and of the differences that no rule
 * speaks of where they stand.
 */
export function* judge(before: Json, after: Json, found: Iterable<Difference>): Generator<Change> {
  const verdicts = new Map<string, Verdict>();
  const reached = new Set<string>();
  const say = (verdict: Verdict): void => {
    const key = verdict.at.join('\n');
    if (verdicts.get(key)?.impact !== 'breaking') verdicts.set(key, verdict);
  };
  const comparison = { before, after, say, reached, open: [], depth: 0 };
  compareDocuments({ ...comparison, seen: new Set(), fits: new Map() });
  for (const { at, ...verdict } of verdicts.values()) yield { path: pointerOf(at), ...verdict };
  const above = new Set([...verdicts.values()].flatMap(({ at }) => prefixesOf(at)));
  for (const difference of found) {
    const at = difference.at.at(-1) === '$ref' ? difference.at.slice(0, -1) : difference.at;
    const isSaid = above.has(at.join('\n')) || prefixesOf(at).some((key) => verdicts.has(key));
    if (!isSaid) yield toChange(difference, impactOf(difference, reached));
  }
}

/** The places that a place stands in, and itself. */
function prefixesOf(at: At): string[] {
  return at.map((_name, index) => at.slice(0, index + 1).join('\n'));
}

/** Whatever hurts was said. A definition that no operation leads to may be used by others. */
function impactOf({ at }: Difference, reached: ReadonlySet<string>): Impact {
  const words = at.filter((_word, index) => !NAMES.has(at[index - 1] ?? ''));
  if (words.some((word) => PROSE.has(word))) return 'compatible';
  if (words.some((word) => OPEN.has(word) || word.startsWith('x-'))) return 'unclassified';
  const length = at[0] === 'components' ? 3 : 2;
  const isWithin = DEFINITIONS.has(at[0] ?? '') && at.length > length;
  return isWithin && !reached.has(at.slice(0, length).join('\n')) ? 'unclassified' : 'compatible';
}

/** Says what of two OpenAPI documents hurts a client that was written for the first one. */
function compareDocuments(comparison: Comparison): void {
  compareParts(comparison, partsOf(comparison, 'before'), partsOf(comparison, 'after'), []);
  settleSchemas(comparison);
}

function compareParts(comparison: Comparison, before: Part[], after: Part[], home: At): void {
  const [former, latter] = [before, after].map(
    (parts) => new Map(parts.map((part) => [keyOf(part), part])),
  );
  for (const was of former?.values() ?? []) {
    const is = partLike(was, latter);
    if (is) comparePair(comparison, was, is, home);
    else if (was.removed)
      comparison.say({ at: was.at, kind: 'removed', impact: was.removed, text: goneText(was) });
  }
  for (const is of latter?.values() ?? [])
    if (is.added && !partLike(is, former)) {
      const text = `the ${is.label} ${is.added === 'breaking' ? 'is required' : 'can come'} now`;
      comparison.say({ at: is.at, kind: 'added', impact: is.added, text });
    }
}

const keyOf = ({ key, label }: Part): string => key ?? label;

function partLike(part: Part, parts: ReadonlyMap<string, Part> | undefined): Part | undefined {
  return [keyOf(part), ...(part.also ?? [])].map((one) => parts?.get(one)).find(Boolean);
}

function goneText({ label, direction, removed }: Part): string {
  if (removed === 'unclassified') return `the ${label} is gone: it may be ignored, or refused`;
  return `the ${label} is ${direction === 'request' ? 'not accepted any more' : 'gone'}`;
}

/** `home`: where the owner stands. */
function comparePair(comparison: Comparison, was: Part, is: Part, home: At): void {
  for (const [at, text] of losses(was, is))
    comparison.say({ at, kind: 'changed', impact: 'breaking', text });
  if (was.schema && is.schema) {
    const site = isSamePlace(was.schema, is.schema) ? is.schema.at : home;
    const { direction } = is;
    comparison.open.push({ direction, site, before: was.schema, after: is.schema });
  }
  compareParts(comparison, was.parts?.() ?? [], is.parts?.() ?? [], is.at);
}

function* losses(was: Part, { at, direction, label, ...is }: Part): Generator<[At, string]> {
  const { inner, outer } = sidesOf(direction, was.isRequired, is.isRequired);
  const lack = direction === 'request' ? 'is required now' : 'can be missing now';
  if (outer === true && inner !== true) yield [[...at, 'required'], `the ${label} ${lack}`];
  if (was.style !== is.style) yield [at, `the ${label} is written in another way`];
  const isEnough = (brought: ReadonlySet<string>): boolean | undefined =>
    is.needs?.sets.some((set) => [...set].every((one) => brought.has(one)));
  if (is.needs && was.needs?.sets.every(isEnough) !== true)
    yield [is.needs.at, 'credentials that were enough are not any more'];
}
