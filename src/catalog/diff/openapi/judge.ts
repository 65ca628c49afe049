import { type Change, type Difference, type Impact, pointerOf, toChange } from '../change.ts';
import type { At, Verdict } from './comparison.ts';
import { compareDocuments } from './compare-parts.ts';

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
