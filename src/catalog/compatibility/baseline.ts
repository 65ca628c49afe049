import { highestIn } from '../version/default-version.ts';
import type { Candidate } from '../version/default-version.ts';
import { majorOf } from '../version/version-order.ts';

/**
 * What a version is held against when it is published: the highest PUBLISHED one of the same major
 * number, releases before pre-releases, whether it is below or above. Undefined where there is none,
 * and for a version that is no semantic one.
 */
export function baselineOf<T extends Candidate>(
  versions: readonly T[],
  { version }: { version: string },
): T | undefined {
  const major = majorOf(version);
  if (major === undefined) return undefined;
  const others = versions.filter(
    (one) => one.version !== version && majorOf(one.version) === major,
  );
  return highestIn(others, 'PUBLISHED');
}
