import { type Part, partsOf } from './operation-parts.ts';
import { type At, type Comparison, isSamePlace, sidesOf } from './comparison.ts';
import { settleSchemas } from './schema-rules.ts';

/** Says what of two OpenAPI documents hurts a client that was written for the first one. */
export function compareDocuments(comparison: Comparison): void {
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
  const isEnough = (given: ReadonlySet<string>): boolean | undefined =>
    is.needs?.sets.some((set) => [...set].every((one) => given.has(one)));
  if (is.needs && was.needs?.sets.every(isEnough) !== true)
    yield [is.needs.at, 'credentials that were enough are not any more'];
}
