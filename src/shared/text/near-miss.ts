import { closest, distance } from 'fastest-levenshtein';

/**
 * The one of some names that a misspelt one may have meant: it differs in at most a third of its
 * letters, or has the same letters in another order. Case, `-` and `_` do not count.
 */
export function nearMiss(name: string, names: readonly string[]): string | undefined {
  return closestOf(name, names, (given, best) => {
    const isNear = distance(given, best) <= Math.floor(Math.max(given.length, best.length) / 3);
    return isNear || (given.length > 2 && lettersOf(given) === lettersOf(best));
  });
}

/** The name that differs least, by at most so many letters. */
export function nearest(
  name: string,
  names: readonly string[],
  differencesMax: number,
): string | undefined {
  return closestOf(name, names, (given, best) => distance(given, best) <= differencesMax);
}

function closestOf(
  name: string,
  names: readonly string[],
  isNear: (given: string, best: string) => boolean,
): string | undefined {
  if (names.length === 0) return undefined;
  const given = fold(name);
  const best = closest(given, names.map(fold));
  return isNear(given, best) ? names.find((candidate) => fold(candidate) === best) : undefined;
}

/** A name without what does not count. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function lettersOf(name: string): string {
  return name.split('').toSorted().join('');
}
