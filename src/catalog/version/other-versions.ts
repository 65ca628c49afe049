/** What the versions of an artifact say of one of them. Pure, and all that the writing thread needs of it. */
import type { OtherType, VersionChange } from '../artifact-store.ts';
import { type Candidate, highestIn, majorOf } from './version-order.ts';

/**
 * An artifact has one type, that of its first version: says which, when `version` is of another one.
 * Undefined when it fits. `versions` are all of the artifact; a version to be made has no `serial`.
 */
export function otherType(
  versions: readonly Pick<Candidate, 'serial' | 'type'>[],
  version: { serial?: number; type: string },
): OtherType | undefined {
  const [first] = versions
    .filter(({ serial }) => serial !== version.serial)
    .toSorted((left, right) => left.serial - right.serial);
  return first === undefined || first.type === version.type
    ? undefined
    : { kind: 'other-type', type: first.type };
}

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

/** Major numbers that are years, or whole dates, go on with no word of what they break. */
const DATE_MAJOR = /^(?:19|20)\d\d(?:\d{4})?$/;

/**
 * Whether a version is held against nothing for its form alone, though others are published: it is no semantic one, as
 * `1.2.3.4`, or a date that begins another year.
 */
export function isBeyondComparing(
  versions: readonly Candidate[],
  ref: { version: string },
): boolean {
  const major = majorOf(ref.version);
  if (major !== undefined && !DATE_MAJOR.test(major)) return false;
  const isOther = ({ version, lifecycle }: Candidate): boolean =>
    version !== ref.version && lifecycle === 'PUBLISHED';
  return versions.some(isOther) && baselineOf(versions, ref) === undefined;
}

/** False for most changes: they are about one version alone. */
export function dependsOnOthers({ former, next, baseline }: VersionChange): boolean {
  return baseline !== undefined || next.type !== former.type;
}

/**
 * What the versions of its artifact say against a change: that the artifact is of another type, or that
 * the version was held against one that is not its baseline any more.
 */
export function conflictWith(
  { former, next, baseline }: VersionChange,
  versions: readonly Candidate[],
): OtherType | 'overtaken' | undefined {
  const mismatch = next.type === former.type ? undefined : otherType(versions, next);
  if (mismatch || !baseline) return mismatch;
  return baselineOf(versions, next)?.serial === baseline.serial ? undefined : 'overtaken';
}
