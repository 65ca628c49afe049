import { refuse, TrackportError } from '#shared/errors.ts';
import { checkFields } from '#shared/field-problems.ts';
import { requireDraft, requireEditable } from '../lifecycle/transitions.ts';
import { type Content, type VersionRecord, type VersionRef, VERSIONS_MAX } from './artifact.ts';
import { checkDraft, type Draft, type Patch, patchIn, requireType } from './content-check.ts';
import { checkCondition, type Precondition, requireCondition } from './entity-tag.ts';
import { type Caller, type Catalog, jobOwnerOf } from '../index.ts';
import { onlyVersionIn, readCandidates, readRecord } from './read-version.ts';
import {
  appendChange,
  insertVersion,
  lockArtifact,
  lockOrMakeArtifact,
  removeVersion,
  toStoredView,
  type StoredView,
  updateSpec,
  updateVersion,
} from './store-version.ts';
import { type Candidate, nextVersion } from './version-order.ts';

/**
 * Makes a draft, and the artifact with its first one. What validation finds in the spec is stored
 * with the draft and refuses nothing.
 * @throws {validation-failed} for everything that is wrong, each with its pointer, and for another type
 * than the artifact's
 * @throws {payload-too-large} for a spec of more than 5 MiB
 * @throws {version-exists} with `current`, the state of the version that is there
 * @throws {quota-exceeded} @throws {overloaded} its spec cannot be validated now
 */
export async function createVersion(
  { db, clock, rules, checkSpec }: Catalog,
  caller: Caller,
  draft: Draft,
): Promise<StoredView> {
  checkDraft(draft, rules());
  const { specText, ...content } = draft;
  const findings = specText === undefined ? [] : await checkSpec(specText, jobOwnerOf(caller));
  const at = clock.now();
  return db.transaction(async (tx) => {
    const artifact = await lockOrMakeArtifact(tx, caller, draft.id);
    if (artifact.versions >= VERSIONS_MAX) refuse([tooManyVersions]);
    const existing = artifact.versions === 0 ? [] : await readCandidates(tx, artifact.serial);
    const version = draft.version ?? nextVersion(existing) ?? refuse([noNextVersion]);
    requireFreeName(existing, version);
    requireType(existing, draft);
    const record = await insertVersion(tx, artifact, existing, {
      ...content,
      workspaceId: caller.workspaceId,
      id: artifact.id,
      version,
      lifecycle: 'DRAFT',
      findings,
      createdAt: at,
      updatedAt: at,
      revision: 1,
      specText,
    });
    const { type, owner, title } = record;
    appendChange(tx, caller, record, {
      at,
      action: 'create',
      changes: { type, owner, title },
    });
    return toStoredView(tx, caller, { record, specText }, { isCreated: true });
  });
}

function requireFreeName(existing: readonly Candidate[], version: string): void {
  const taken = existing.find((candidate) => candidate.version === version);
  if (!taken) return;
  throw new TrackportError('version-exists', {
    detail: `Version ${version} is there already, and is ${taken.lifecycle}. Replace it while it is a draft, or create another version.`,
    extensions: { current: taken.lifecycle },
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
 * @throws {quota-exceeded} @throws {overloaded} its spec cannot be validated now
 */
export async function replaceVersion(
  { db, clock, rules, checkSpec }: Catalog,
  caller: Caller,
  { content, id, version, ifMatch }: ReplaceInput,
): Promise<StoredView> {
  checkDraft({ ...content, id, version }, rules());
  const { specText, ...described } = content;
  const findings = specText === undefined ? [] : await checkSpec(specText, jobOwnerOf(caller));
  const at = clock.now();
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, id);
    const named = version ?? (await onlyVersionIn(tx, artifact, 'DRAFT'));
    const former = await readRecord(tx, caller, { id, version: named, withSpec: true });
    requireDraft(former.record);
    checkCondition(former.record, requireCondition(ifMatch));
    const next = replaced(former.record, { ...described, findings }, at);
    const changes = changesOf(former.record, next);
    const isOther =
      Object.keys(changes).length > 0 || isOtherJson(former.record.findings, findings);
    if (!isOther && former.specText === specText) return toStoredView(tx, caller, former);
    if (next.type !== former.record.type)
      requireType(await readCandidates(tx, artifact.serial), next);
    updateVersion(tx, next);
    updateSpec(tx, next, specText);
    const spec = specText === undefined ? null : 'replaced';
    appendChange(tx, caller, next, { at, action: 'replace', changes: { ...changes, spec } });
    return toStoredView(tx, caller, { record: next, specText });
  });
}

/** The version with this content in place of its own. */
function replaced(
  { workspaceId, id, version, lifecycle, createdAt, serial, revision }: VersionRecord,
  content: Omit<Content, 'specText'> & Pick<VersionRecord, 'findings'>,
  updatedAt: number,
): VersionRecord {
  const own = { workspaceId, id, version, lifecycle, createdAt, serial };
  return { ...own, ...content, updatedAt, revision: revision + 1 };
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
  { db, clock }: Catalog,
  caller: Caller,
  { patch, ifMatch, ...ref }: PatchInput,
): Promise<StoredView> {
  const checked = checkFields(patchIn, 'body', patch);
  if ('problems' in checked) refuse(checked.problems);
  const at = clock.now();
  return db.transaction(async (tx) => {
    await lockArtifact(tx, caller, ref.id);
    const { record, specText } = await readRecord(tx, caller, { ...ref, withSpec: true });
    requireEditable(record);
    checkCondition(record, requireCondition(ifMatch));
    const patched = applyPatch(record, patch);
    const changes = changesOf(record, patched);
    if (Object.keys(changes).length === 0) return toStoredView(tx, caller, { record, specText });
    const next = { ...patched, updatedAt: at, revision: record.revision + 1 };
    updateVersion(tx, next);
    appendChange(tx, caller, next, { at, action: 'edit', changes });
    return toStoredView(tx, caller, { record: next, specText });
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
  { db, clock }: Catalog,
  caller: Caller,
  { id, version, ifMatch }: VersionTarget,
): Promise<VersionRecord> {
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, id);
    const named = version ?? (await onlyVersionIn(tx, artifact, 'DRAFT'));
    const { record } = await readRecord(tx, caller, { id, version: named, withSpec: false });
    requireDraft(record);
    checkCondition(record, requireCondition(ifMatch));
    await removeVersion(tx, artifact, record);
    appendChange(tx, caller, record, { at: clock.now(), action: 'delete' });
    return record;
  });
}

function applyPatch(record: VersionRecord, patch: Patch): VersionRecord {
  const { title = record.title, owner = record.owner } = patch;
  const { description: _description, groupPath: _groupPath, ...rest } = record;
  const description = valueAfter(patch.description, record.description);
  const groupPath = valueAfter(patch.groupPath, record.groupPath);
  return {
    ...rest,
    title,
    owner,
    ...(description !== undefined && { description }),
    ...(groupPath !== undefined && { groupPath }),
  };
}

function valueAfter(
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
