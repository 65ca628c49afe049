import type { SchemaError } from './schema-errors.ts';

type Errors = readonly SchemaError[];

/**
 * What is wrong with the value at `at` by the alternative that it was most likely meant for, given what
 * is wrong by each, of which there is one at least. Where all want another word in the same member, the
 * words of all are allowed.
 */
export function closestErrors(alternatives: readonly Errors[], at: string): Errors {
  const [first = [], ...others] = alternatives;
  const closest = others.reduce(
    (best, errors) => (isCloser(distanceOf(errors, at), distanceOf(best, at)) ? errors : best),
    first,
  );
  if (!closest.some((error) => isOtherWord(error, at))) return closest;
  const words = wordsOf(alternatives.flat().filter((error) => isOtherWord(error, at)));
  return closest.map((error) => (isOtherWord(error, at) ? withAllWords(error, words) : error));
}

/** How far a value is from an alternative: what comes first counts more. */
function distanceOf(errors: Errors, at: string): readonly number[] {
  const here = errors.filter(({ instancePath }) => instancePath === at);
  return [
    Number(here.some(({ keyword }) => keyword === 'type')),
    Number(here.some(isReferenceMistaken)),
    Number(errors.some((error) => isOtherWord(error, at))),
    here.length,
    errors.length,
  ];
}

function isCloser(distance: readonly number[], other: readonly number[]): boolean {
  const place = distance.findIndex((far, index) => far !== other[index]);
  return place >= 0 && (distance[place] ?? 0) < (other[place] ?? 0);
}

/** The value is a reference where none may be, or none where one must be. */
function isReferenceMistaken({ params }: SchemaError): boolean {
  const { missingProperty, additionalProperty } = params as Record<string, unknown>;
  return missingProperty === '$ref' || additionalProperty === '$ref';
}

/** The value, or a member of it, says itself that it is another thing, as `type` does in many. */
function isOtherWord({ instancePath, keyword }: SchemaError, at: string): boolean {
  if (keyword !== 'enum' && keyword !== 'const') return false;
  return instancePath === at || instancePath.lastIndexOf('/') === at.length;
}

type Words = ReadonlyMap<string, ReadonlySet<unknown>>;

/** By the place of the member. */
function wordsOf(errors: Errors): Words {
  const words = new Map<string, Set<unknown>>();
  for (const { instancePath, params } of errors) {
    const { allowedValues, allowedValue } = params as Record<string, unknown>;
    const known = words.get(instancePath) ?? new Set();
    for (const word of Array.isArray(allowedValues) ? allowedValues : [allowedValue])
      known.add(word);
    words.set(instancePath, known);
  }
  return words;
}

function withAllWords(error: SchemaError, words: Words): SchemaError {
  const allowedValues = [...(words.get(error.instancePath) ?? [])];
  if (allowedValues.length <= 1) return error;
  const message = 'must be equal to one of the allowed values';
  return { ...error, keyword: 'enum', params: { allowedValues }, message };
}
