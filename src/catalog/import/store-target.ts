import { changeLifecycle } from '../lifecycle/change-lifecycle.ts';
import { checkDraft } from '../version/content-check.ts';
import { createVersion, replaceVersion } from '../version/write-version.ts';
import { type Precondition, specTagOf } from '../version/entity-tag.ts';
import {
  type Caller,
  type CatalogDeps,
  readRecord,
  type VersionView,
} from '../version/version-view.ts';
import { fingerprintOf, type ImportTarget, type WrittenVersion } from './import-target.ts';

/** The workspace of a caller, in the store at hand. */
export function createStoreTarget(deps: CatalogDeps, caller: Caller): ImportTarget {
  const { store, words } = deps;
  const { workspaceId } = caller;
  return {
    check: async (draft) => checkDraft(draft, words),
    read: async (draft) => {
      const { id, version } = draft;
      const found = await store.read(workspaceId, { id, version }, { withSpec: true });
      if (found.kind !== 'found') return undefined;
      const { record, specText } = found;
      const content = { ...record, specText };
      const isSame = fingerprintOf(content) === fingerprintOf(draft);
      const { lifecycle, findings } = record;
      return { lifecycle, findings, match: isSame ? 'same' : 'different', tag: tagOf({ record }) };
    },
    candidates: async (id) => (await store.candidates(workspaceId, id)) ?? [],
    specText: async (name) =>
      (await readRecord(deps, caller, { ...name, withSpec: true })).specText,
    create: async (draft) => toWritten(await createVersion(deps, caller, draft)),
    replace: async ({ id, version, ...content }, tag) =>
      toWritten(
        await replaceVersion(deps, caller, { id, version, content, ifMatch: conditionOf(tag) }),
      ),
    publish: async (name, { tag, acceptsBreaking }) =>
      toWritten(
        await changeLifecycle(deps, caller, {
          ...name,
          action: 'publish',
          acceptsBreaking,
          ifMatch: conditionOf(tag),
        }),
      ),
  };
}

/** Every tag of a version is one for a condition. */
function tagOf({ record }: Pick<VersionView, 'record'>): string {
  return specTagOf(record, 'json');
}

function conditionOf(tag: string): Precondition {
  return { kind: 'tags', tags: [tag] };
}

function toWritten(view: VersionView): WrittenVersion {
  return { tag: tagOf(view), findings: view.record.findings };
}
