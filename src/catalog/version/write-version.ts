import { refuse, TrackportError } from '#shared/errors.ts';
import { checkFields } from '#shared/field-problems.ts';
import type { Inserted, StoredVersion, VersionRef } from '../artifact-store.ts';
import { requireDraft, requireEditable } from '../lifecycle/lifecycle.ts';
import { type Content, type VersionRecord, VERSIONS_MAX } from './artifact.ts';
import {
  accompany,
  changeVersion,
  checkCondition,
  onlyVersionIn,
  writeChange,
} from './change-version.ts';
import { checkDraft, type Draft, type Patch, patchIn } from './content-check.ts';
import { type Precondition, requireCondition } from './entity-tag.ts';
import {
  type Caller,
  type CatalogDeps,
  readRecord,
  readView,
  refuseOtherType,
  type VersionView,
  viewOf,
} from './version-view.ts';

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
  const findings = specText === undefined ? [] : await deps.checkSpec(specText, caller);
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

/** The version that is meant, and what the caller demands of its present state. */
type VersionTarget = VersionRef & { ifMatch?: Precondition };
type ReplaceInput = VersionTarget & { content: Content };
type PatchInput = VersionTarget & { patch: Patch };

/**
 * Replaces the whole content of a draft; without `version`, of the only one. The content that it has
 * already leaves the version and its entity tag alone.
 * @throws {validation-failed} also for another type, unless it is the artifact's only version
 * @throws {payload-too-large}
 * @throws {artifact-not-found}
 * @throws {not-a-draft} with `current`
 * @throws {precondition-required} @throws {precondition-failed}
 */
export async function replaceVersion(
  deps: CatalogDeps,
  caller: Caller,
  { content, ...target }: ReplaceInput,
): Promise<VersionView> {
  const ref = await draftRef(deps, caller, target);
  const draft: Draft = { ...content, ...ref };
  checkDraft(draft, deps.words);
  const { specText, ...described } = content;
  const findings = specText === undefined ? [] : await deps.checkSpec(specText, caller);
  return changeVersion(deps, { caller, ref }, async (record) => {
    requireDraft(record);
    checkCondition(record, requireCondition(target.ifMatch));
    const { workspaceId, id, version, lifecycle, createdAt, serial, revision } = record;
    const next: VersionRecord = {
      workspaceId,
      id,
      version,
      lifecycle,
      createdAt,
      serial,
      ...described,
      findings,
      updatedAt: deps.clock.now(),
      revision: revision + 1,
    };
    const fields = changesOf(record, next);
    const isOther = Object.keys(fields).length > 0 || isOtherJson(record.findings, findings);
    if (!isOther && (await hasSpec(deps, caller, { record, specText })))
      return readView(deps, caller, { ...ref, withSpec: true });
    const changes = { ...fields, spec: specText === undefined ? null : 'replaced' };
    const beside = accompany(deps, caller, { action: 'replace', changes });
    const change = { former: record, next, specText: specText ?? null };
    return writeChange(deps, caller, { ...change, beside });
  });
}

/** Whether a version that was read has this spec, and is still as it was read. */
async function hasSpec(
  deps: CatalogDeps,
  caller: Caller,
  { record, specText }: { record: VersionRecord; specText: string | undefined },
): Promise<boolean> {
  const { id, version, serial, revision } = record;
  const present = await readRecord(deps, caller, { id, version, withSpec: true });
  const isUnchanged = present.record.serial === serial && present.record.revision === revision;
  return isUnchanged && present.specText === specText;
}

/**
 * Changes descriptive fields of a version in any state but RETIRED; without `version`, of the one
 * that a read returns. A patch that changes nothing leaves the version and its entity tag alone.
 * @throws {validation-failed}
 * @throws {artifact-not-found} @throws {no-published-version}
 * @throws {invalid-lifecycle-transition} with `current`
 * @throws {precondition-required} @throws {precondition-failed}
 */
export async function patchVersion(
  deps: CatalogDeps,
  caller: Caller,
  { patch, ifMatch, ...target }: PatchInput,
): Promise<VersionView> {
  const checked = checkFields(patchIn, 'body', patch);
  if ('problems' in checked) refuse(checked.problems);
  const { id, version } = (await readRecord(deps, caller, { ...target, withSpec: false })).record;
  const ref = { id, version };
  return changeVersion(deps, { caller, ref }, async (record) => {
    requireEditable(record);
    checkCondition(record, requireCondition(ifMatch));
    const next = applyPatch(record, patch);
    const changes = changesOf(record, next);
    if (Object.keys(changes).length === 0)
      return readView(deps, caller, { ...ref, withSpec: true });
    const touched = { ...next, updatedAt: deps.clock.now(), revision: next.revision + 1 };
    const beside = accompany(deps, caller, { action: 'edit', changes });
    return writeChange(deps, caller, { former: record, next: touched, beside });
  });
}

/**
 * Removes a draft; without `version`, the only one. With its last version the artifact goes.
 * @throws {validation-failed}
 * @throws {artifact-not-found}
 * @throws {not-a-draft} with `current`
 * @throws {precondition-required} @throws {precondition-failed}
 */
export async function deleteVersion(
  deps: CatalogDeps,
  caller: Caller,
  target: VersionTarget,
): Promise<VersionRecord> {
  const ref = await draftRef(deps, caller, target);
  return changeVersion(deps, { caller, ref }, async (record) => {
    requireDraft(record);
    checkCondition(record, requireCondition(target.ifMatch));
    const { audit } = accompany(deps, caller, { action: 'delete' });
    const isRemoved = await deps.store.remove(caller.workspaceId, record, audit);
    return isRemoved ? record : undefined;
  });
}

async function draftRef(
  deps: CatalogDeps,
  caller: Caller,
  { id, version }: VersionRef,
): Promise<Required<VersionRef>> {
  return {
    id,
    version: version ?? (await onlyVersionIn(deps, caller, { id, lifecycle: 'DRAFT' })),
  };
}

function applyPatch(record: VersionRecord, patch: Patch): VersionRecord {
  const { title = record.title, owner = record.owner } = patch;
  const { description: _description, groupPath: _groupPath, ...rest } = record;
  const description = patched(patch.description, record.description);
  const groupPath = patched(patch.groupPath, record.groupPath);
  return {
    ...rest,
    title,
    owner,
    ...(description !== undefined && { description }),
    ...(groupPath !== undefined && { groupPath }),
  };
}

function patched(
  wanted: string | null | undefined,
  former: string | undefined,
): string | undefined {
  return wanted === undefined ? former : (wanted ?? undefined);
}

/** Fields whose new value stands in the audit log; of the others only that they changed. */
const AUDITED = ['type', 'owner', 'title', 'source', 'projectId', 'groupPath'] as const;
const NAMED = ['description', 'members', 'counts'] as const;

function changesOf(former: VersionRecord, next: VersionRecord): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const field of AUDITED)
    if (former[field] !== next[field]) changes[field] = next[field] ?? null;
  for (const field of NAMED)
    if (isOtherJson(former[field], next[field])) changes[field] = 'changed';
  return changes;
}

function isOtherJson(former: unknown, next: unknown): boolean {
  return JSON.stringify(former) !== JSON.stringify(next);
}
