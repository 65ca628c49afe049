import type { Lifecycle } from '../artifact.ts';
import { compareVersions, highestOf, type Orderable, orderOf } from './version-order.ts';

/** A version, as far as what its artifact is depends on it. */
export type Candidate = Orderable & { lifecycle: Lifecycle; type: string };

/**
 * The version that a read without `version` returns: the one that was set, while it is PUBLISHED
 * or DEPRECATED; else the highest PUBLISHED (releases, then pre-releases, then versions that are
 * no semantic ones); else the highest DEPRECATED.
 */
function chooseDefault<T extends Candidate>(
  versions: readonly T[],
  defaultSerial: number | undefined,
): T | undefined {
  const byOwner = versions.find(({ serial }) => serial === defaultSerial);
  if (byOwner && isReadable(byOwner)) return byOwner;
  return highestIn(versions, 'PUBLISHED') ?? highestIn(versions, 'DEPRECATED');
}

/** The version that stands for an artifact in lists: its default, else a draft, else a retired one. */
export function chooseListed<T extends Candidate>(
  versions: readonly T[],
  defaultSerial: number | undefined,
): T | undefined {
  return (
    chooseDefault(versions, defaultSerial) ??
    highestIn(versions, 'DRAFT') ??
    highestIn(versions, 'RETIRED')
  );
}

/** True for a version that may be an artifact's default. */
export function isReadable({ lifecycle }: { lifecycle: Lifecycle }): boolean {
  return lifecycle === 'PUBLISHED' || lifecycle === 'DEPRECATED';
}

/** The highest version in a state: releases, then pre-releases, then versions that are no semantic ones. */
export function highestIn<T extends Candidate>(
  versions: readonly T[],
  lifecycle: Lifecycle,
): T | undefined {
  return highestOf(
    versions.filter((version) => version.lifecycle === lifecycle),
    (left, right) =>
      orderOf(left.version).rank - orderOf(right.version).rank || compareVersions(left, right),
  );
}
