import type { ArtifactAction } from '#shared/audit.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import type { Lifecycle, VersionRecord } from './artifact.ts';
import type { Accompaniment, VersionChange, VersionRef } from '../artifact-store.ts';
import {
  type Caller,
  type CatalogDeps,
  type Reader,
  readRecord,
  refuseOtherType,
  refuseUnknown,
  type VersionView,
  viewOf,
} from './version-view.ts';
import { type Precondition, requireTag } from './entity-tag.ts';

const ATTEMPTS_MAX = 10;

/**
 * Reads a version, decides on what it is now, and writes unless another change came between; then
 * decides anew on what that one left. So of two changes at once the second sees the first. An
 * attempt that another one overtook returns undefined.
 */
export async function changeVersion<T>(
  deps: Pick<CatalogDeps, 'store'>,
  { caller, ref }: { caller: Caller; ref: VersionRef },
  attempt: (record: VersionRecord) => Promise<T | undefined>,
): Promise<T> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    const { record } = await readRecord(deps, caller, { ...ref, withSpec: false });
    const done = await attempt(record);
    if (done !== undefined) return done;
  }
  throw new TrackportError('store-unavailable', {
    detail: 'The version kept changing meanwhile.',
    retryAfterSeconds: 1,
  });
}

/** What goes with a change: its audit entry, and the response that is stored for it. */
export function accompany(
  { clock }: Pick<CatalogDeps, 'clock'>,
  { actor, requestId, call }: Caller,
  { action, changes }: { action: ArtifactAction; changes?: Record<string, unknown> },
): Accompaniment {
  return {
    audit: { at: clock.now(), actor, action: `artifact.${action}`, changes, requestId },
    call,
  };
}

/**
 * Writes a change, with what goes with it. Undefined when another change came between.
 * @throws {validation-failed} when the artifact is of another type, by another version
 */
export async function writeChange(
  { store }: Pick<CatalogDeps, 'store'>,
  { workspaceId }: Reader,
  { beside, ...change }: VersionChange & { beside: Accompaniment },
): Promise<VersionView | undefined> {
  const stored = await store.change(workspaceId, change, beside);
  if (stored && 'kind' in stored) refuseOtherType(stored);
  return stored && viewOf(stored);
}

/**
 * Holds a caller's condition against the version as it is now; an absent one always holds.
 * @throws {precondition-failed}
 */
export function checkCondition(record: VersionRecord, condition: Precondition | undefined): void {
  if (condition?.kind === 'tags') requireTag(condition.tags, record);
}

/**
 * The version that is meant where the request names none: the only one in a state.
 * @throws {artifact-not-found}
 * @throws {validation-failed} when there is none or more than one
 */
export async function onlyVersionIn(
  { store }: Pick<CatalogDeps, 'store'>,
  { workspaceId }: Reader,
  { id, lifecycle }: { id: string; lifecycle: Lifecycle },
): Promise<string> {
  const candidates = await store.candidates(workspaceId, id);
  if (!candidates) refuseUnknown('no-artifact');
  const [only, ...others] = candidates.filter((candidate) => candidate.lifecycle === lifecycle);
  if (only && others.length === 0) return only.version;
  return refuse([
    {
      parameter: 'version',
      code: 'required',
      detail: `Name the version: ${only ? 'more than one' : 'none'} of them is ${lifecycle}.`,
    },
  ]);
}
