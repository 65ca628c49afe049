import type { Change } from '../artifact-store.ts';
import { baselineOf } from '../compatibility/baseline.ts';
import { otherType } from './artifact-type.ts';
import type { OtherType } from './artifact-type.ts';
import type { Candidate } from './default-version.ts';

/** False for most changes: they are about one version alone. */
export function dependsOnOthers({ former, next, baseline }: Change): boolean {
  return baseline !== undefined || next.type !== former.type;
}

/**
 * What the versions of its artifact say against a change: that the artifact is of another type, or that
 * the version was held against one that is not its baseline any more.
 */
export function objectionTo(
  { former, next, baseline }: Change,
  versions: readonly Candidate[],
): OtherType | 'overtaken' | undefined {
  const mismatch = next.type === former.type ? undefined : otherType(versions, next);
  if (mismatch || !baseline) return mismatch;
  return baselineOf(versions, next)?.serial === baseline.serial ? undefined : 'overtaken';
}
