import { closest, distance } from 'fastest-levenshtein';

/**
 * The one of some names that a misspelt one may have meant: it differs in at most a third of its
 * letters, or has the same letters in another order. Case, `-` and `_` do not count.
 */
export function nearMiss(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const given = fold(name);
  const best = closest(given, names.map(fold));
  const isNear =
    distance(given, best) <= Math.floor(Math.max(given.length, best.length) / 3) ||
    (given.length > 2 && lettersOf(given) === lettersOf(best));
  return isNear ? names.find((candidate) => fold(candidate) === best) : undefined;
}

/** A name without what does not count. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function lettersOf(name: string): string {
  return name.split('').toSorted().join('');
}
