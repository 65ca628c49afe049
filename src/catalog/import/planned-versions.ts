import { refuseOtherType } from '../version/version-view.ts';
import { foldId, type Lifecycle } from '../version/artifact.ts';
import type { Candidate } from '../version/order/default-version.ts';
import { otherType } from '../version/order/other-versions.ts';
import type { ImportedDraft } from './import-file.ts';
import type { ImportTarget, VersionName } from './import-target.ts';

/** What an import that writes nothing would have made of its target so far. */
export type ImportPlan = Pick<ImportTarget, 'candidates' | 'specText'> & {
  /**
   * Takes note of a draft that would be written, and refuses what the store would refuse after those before.
   * @throws {validation-failed} for another type than the artifact's @throws {store-unavailable}
   */
  write(draft: ImportedDraft): Promise<void>;
  /** Takes note of a draft that would be published, so that those after it are held against it. */
  publish(draft: ImportedDraft): Promise<void>;
};

/** Plans one import. */
export function createPlan(target: Pick<ImportTarget, 'candidates' | 'specText'>): ImportPlan {
  const planned = new Map<string, readonly Candidate[]>();
  const specs = new Map<string, string | undefined>();
  const nameOf = ({ id, version }: VersionName): string => `${foldId(id)} ${version}`;
  const candidates = async (id: string): Promise<readonly Candidate[]> =>
    planned.get(foldId(id)) ?? (await target.candidates(id));
  const note = async (draft: ImportedDraft, lifecycle: Lifecycle): Promise<void> => {
    const { id, version, type } = draft;
    const versions = await candidates(id);
    const former = versions.find((one) => one.version === version);
    const serial = former?.serial ?? Math.max(0, ...versions.map((one) => one.serial)) + 1;
    const mismatch = otherType(versions, { serial, type });
    if (mismatch) refuseOtherType(mismatch);
    const others = versions.filter((one) => one !== former);
    const createdAt = former?.createdAt ?? Infinity;
    planned.set(foldId(id), [...others, { serial, version, type, lifecycle, createdAt }]);
    specs.set(nameOf(draft), draft.specText);
  };
  return {
    candidates,
    specText: async (name) =>
      specs.has(nameOf(name)) ? specs.get(nameOf(name)) : target.specText(name),
    write: (draft) => note(draft, 'DRAFT'),
    publish: (draft) => note(draft, 'PUBLISHED'),
  };
}
