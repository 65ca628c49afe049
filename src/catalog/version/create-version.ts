import { refuse, TrackportError } from '#shared/errors.ts';
import { VERSIONS_MAX } from './artifact.ts';
import type { Inserted, StoredVersion } from '../artifact-store.ts';
import {
  accompany,
  type Caller,
  type CatalogDeps,
  refuseOtherType,
  type VersionView,
  viewOf,
} from './version-view.ts';
import { checkDraft, type Draft } from './content-check.ts';

/**
 * Makes a draft, and the artifact with its first one. What validation finds in the spec is stored
 * with the draft and refuses nothing.
 * @throws {validation-failed} for everything that is wrong, each with its pointer, and for another type
 * than the artifact's
 * @throws {payload-too-large} for a spec of more than 5 MiB
 * @throws {version-exists} with `current`, the state of the version that is there
 */
export async function createVersion(
  deps: CatalogDeps,
  caller: Caller,
  draft: Draft,
): Promise<VersionView> {
  checkDraft(draft, deps.words);
  const { specText } = draft;
  const findings = specText === undefined ? [] : await deps.checkSpec(specText, caller.signal);
  const now = deps.clock.now();
  const inserted = await deps.store.insert(
    caller.workspaceId,
    { ...draft, findings, createdAt: now, updatedAt: now },
    accompany(deps, caller, {
      action: 'create',
      changes: { type: draft.type, owner: draft.owner, title: draft.title },
    }),
  );
  return viewOf(storedOf(inserted));
}

function storedOf(inserted: Inserted): StoredVersion {
  if (inserted.kind === 'inserted') return inserted.stored;
  if (inserted.kind === 'full') return refuse([tooManyVersions]);
  if (inserted.kind === 'nameless') return refuse([noNextVersion]);
  if (inserted.kind === 'other-type') return refuseOtherType(inserted);
  const { version, current } = inserted;
  throw new TrackportError('version-exists', {
    detail: `Version ${version} is there already, and is ${current}. Replace it while it is a draft, or create another version.`,
    extensions: { current },
  });
}

const tooManyVersions = {
  pointer: '#/id',
  code: 'too-many',
  detail: `The artifact has ${VERSIONS_MAX} versions: no more fit.`,
};

const noNextVersion = {
  pointer: '#/version',
  code: 'missing',
  detail: 'Name a version: the highest one has no next minor of at most 64 characters.',
};
