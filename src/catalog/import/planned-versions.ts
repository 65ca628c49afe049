import { refuseOtherType } from '../version/version-view.ts';
import { foldId } from '../version/artifact.ts';
import type { Candidate } from '../version/order/default-version.ts';
import { otherType } from '../version/order/other-versions.ts';
import type { ImportTarget } from './import-target.ts';

type Version = Pick<Candidate, 'serial' | 'version' | 'type'>;

/**
 * Takes note of a version that an import would write, and refuses what the store would refuse after
 * those before.
 * @throws {validation-failed} for another type than the artifact's @throws {store-unavailable}
 */
export type PlanVersion = (version: { id: string; version: string; type: string }) => Promise<void>;

/** Plans one import that writes nothing. */
export function createPlan(target: Pick<ImportTarget, 'candidates'>): PlanVersion {
  const planned = new Map<string, readonly Version[]>();
  return async ({ id, version, type }) => {
    const versions: readonly Version[] = planned.get(foldId(id)) ?? (await target.candidates(id));
    const former = versions.find((one) => one.version === version);
    const serial = former?.serial ?? Math.max(0, ...versions.map((one) => one.serial)) + 1;
    const mismatch = otherType(versions, { serial, type });
    if (mismatch) refuseOtherType(mismatch);
    const others = versions.filter((one) => one !== former);
    planned.set(foldId(id), [...others, { serial, version, type }]);
  };
}
