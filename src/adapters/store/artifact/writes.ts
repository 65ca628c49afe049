import { foldId, type VersionRecord, VERSIONS_MAX } from '#catalog/version/artifact.ts';
import { conflictWith, dependsOnOthers, otherType } from '#catalog/version/other-versions.ts';
import {
  type Accompaniment,
  type ChangeAudit,
  type Inserted,
  type NewVersion,
  type OtherType,
  type StoredVersion,
  toVersionColumns,
  type VersionChange,
} from '#catalog/artifact-store.ts';
import { nextVersion } from '#catalog/version/version-order.ts';
import { searchTextOf } from '#catalog/reading/search-terms.ts';
import { versionResponse } from '#catalog/version/version-response.ts';
import { viewOf } from '#catalog/version/version-view.ts';
import type { KeyedCall } from '#shared/idempotency.ts';
import { appendAudit } from '#shared/audit-log.ts';
import { putCall } from '../idempotency-store.ts';
import type { Tx } from '#shared/database.ts';
import { readRelations } from './relations.ts';
import { type ArtifactRow, refreshListed } from './listed-version.ts';
import { auditSubject, readCandidates } from './rows.ts';

const LOCK_ARTIFACT = `
  SELECT serial, id, default_serial, listed_serial, versions FROM catalog_artifact
  WHERE workspace_id = @workspaceId AND id_folded = @idFolded FOR UPDATE`;

/** Nothing where another instance has just made it. */
const INSERT_ARTIFACT = `
  INSERT INTO catalog_artifact (workspace_id, id_folded, id) VALUES (@workspaceId, @idFolded, @id)
  ON CONFLICT (workspace_id, id_folded) DO NOTHING
  RETURNING serial, id, default_serial, listed_serial, versions`;

/** Terms are cut already: no dictionary of the server's is to change them. */
const TERMS = "array_to_tsvector(string_to_array(@terms, ' '))";

const INSERT_VERSION = `
  INSERT INTO catalog_version (
    artifact_serial, workspace_id, version, order_key, is_listed, revision, lifecycle, type, source,
    owner, title, project_id, group_path, created_at, updated_at, published_at, deprecated_at, sunset_at,
    members, counts, findings, description, terms
  ) VALUES (
    @artifact, @workspaceId, @version, @orderKey, @isListed, @revision, @lifecycle, @type, @source,
    @owner, @title, @projectId, @groupPath, @createdAt, @updatedAt, @publishedAt, @deprecatedAt, @sunsetAt,
    @members, @counts, @findings, @description, ${TERMS}
  ) RETURNING serial`;

const IS_AS_READ = 'serial = @serial AND workspace_id = @workspaceId AND revision';

/** Changes nothing when the row is not any more the one before this revision. */
const UPDATE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, type = @type, source = @source, owner = @owner,
    title = @title, project_id = @projectId, group_path = @groupPath, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    members = @members, counts = @counts, findings = @findings, description = @description,
    terms = ${TERMS}
  WHERE ${IS_AS_READ} = @formerRevision`;

/** A move between states changes no content. */
const MOVE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    findings = @findings
  WHERE ${IS_AS_READ} = @formerRevision`;

const DELETE_VERSION = `DELETE FROM catalog_version WHERE ${IS_AS_READ} = @revision`;

const UNCHANGED = `SELECT 1 FROM catalog_version WHERE ${IS_AS_READ} = @revision`;

const PUT_SPEC = `
  INSERT INTO catalog_spec (version_serial, text) VALUES (@serial, @text)
  ON CONFLICT (version_serial) DO UPDATE SET text = excluded.text`;

const READ_SPEC = 'SELECT text FROM catalog_spec WHERE version_serial = @serial';

const DELETE_SPEC = 'DELETE FROM catalog_spec WHERE version_serial = @serial';

/**
 * What writes of `ArtifactStore`: the change, its audit entry, the default, and the response for an
 * idempotency key. Each begins with the artifact's lock, so that changes of one artifact take turns.
 */
export const artifactWrites = { insert, change, remove, setDefault, clearDefault, respond };

function lockArtifact(
  session: Tx,
  workspaceId: string,
  id: string,
): Promise<ArtifactRow | undefined> {
  return session.get<ArtifactRow>(LOCK_ARTIFACT, { workspaceId, idFolded: foldId(id) });
}

/** Makes it when there is none; another instance may do the same at the same time. */
async function lockOrMakeArtifact(
  session: Tx,
  workspaceId: string,
  id: string,
): Promise<ArtifactRow> {
  const values = { workspaceId, idFolded: foldId(id), id };
  const artifact =
    (await lockArtifact(session, workspaceId, id)) ??
    (await session.get<ArtifactRow>(INSERT_ARTIFACT, values));
  // Somebody else has just made it.
  return artifact ?? lockOrMakeArtifact(session, workspaceId, id);
}

async function insert(
  session: Tx,
  workspaceId: string,
  { specText, ...content }: NewVersion,
  beside: Accompaniment,
): Promise<Inserted> {
  const artifact = await lockOrMakeArtifact(session, workspaceId, content.id);
  if (artifact.versions >= VERSIONS_MAX) return { kind: 'full' };
  const existing = artifact.versions === 0 ? [] : await readCandidates(session, artifact.serial);
  const version = content.version ?? nextVersion(existing);
  if (version === undefined) return { kind: 'nameless' };
  const taken = existing.find((candidate) => candidate.version === version);
  if (taken) return { kind: 'taken', version, current: taken.lifecycle };
  const mismatch = otherType(existing, content);
  if (mismatch) return mismatch;
  const fields = {
    ...content,
    id: artifact.id,
    workspaceId,
    version,
    lifecycle: 'DRAFT' as const,
    revision: 1,
  };
  const row = await session.get<{ serial: number }>(INSERT_VERSION, {
    ...toVersionColumns(fields),
    terms: searchTextOf(fields),
    artifact: artifact.serial,
    isListed: artifact.listedSerial === undefined,
  });
  const record = { ...fields, serial: row?.serial ?? 0 };
  if (specText !== undefined)
    await session.run(PUT_SPEC, { serial: record.serial, text: specText });
  await refreshListed(session, artifact, [...existing, record]);
  const changed = { record, specText, isCreated: true };
  return { kind: 'inserted', stored: await conclude(session, changed, beside) };
}

async function change(
  session: Tx,
  workspaceId: string,
  wanted: VersionChange,
  beside: Accompaniment,
): Promise<StoredVersion | OtherType | undefined> {
  const { former, next } = wanted;
  const artifact = await lockArtifact(session, workspaceId, next.id);
  if (!artifact) return undefined;
  const conflict = await conflictOf(session, artifact, wanted);
  if (conflict) return conflict === 'overtaken' ? undefined : conflict;
  const isMove = former.lifecycle !== next.lifecycle;
  const changes = await session.run(isMove ? MOVE_VERSION : UPDATE_VERSION, {
    ...toVersionColumns(next),
    ...(!isMove && { terms: searchTextOf(next) }),
    workspaceId,
    serial: next.serial,
    formerRevision: former.revision,
  });
  if (changes === 0) return undefined;
  const specText = await changeSpec(session, wanted);
  if (isMove) await refresh(session, artifact);
  return conclude(session, { record: next, specText }, beside);
}

async function conflictOf(session: Tx, artifact: ArtifactRow, wanted: VersionChange) {
  return dependsOnOthers(wanted)
    ? conflictWith(wanted, await readCandidates(session, artifact.serial))
    : undefined;
}

/** The spec as it is then. */
async function changeSpec(
  session: Tx,
  { next: { serial }, specText }: VersionChange,
): Promise<string | undefined> {
  if (specText === undefined) return readSpec(session, serial);
  if (specText === null) await session.run(DELETE_SPEC, { serial });
  else await session.run(PUT_SPEC, { serial, text: specText });
  return specText ?? undefined;
}

async function remove(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<boolean> {
  const { serial, revision } = record;
  const artifact = await lockArtifact(session, workspaceId, record.id);
  const changes = await session.run(DELETE_VERSION, { serial, workspaceId, revision });
  if (changes === 0 || !artifact) return false;
  await refresh(session, artifact);
  await appendChange(session, record, audit);
  return true;
}

async function setDefault(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
  beside: Accompaniment,
): Promise<StoredVersion | undefined> {
  const artifact = await lockUnchanged(session, workspaceId, record);
  if (!artifact) return undefined;
  await refresh(session, artifact, record.serial);
  return conclude(session, { record, specText: await readSpec(session, record.serial) }, beside);
}

async function clearDefault(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<boolean> {
  const artifact = await lockArtifact(session, workspaceId, record.id);
  if (artifact?.defaultSerial !== record.serial) return false;
  await refresh(session, artifact, null);
  await appendChange(session, record, audit);
  return true;
}

async function respond(
  session: Tx,
  workspaceId: string,
  record: VersionRecord,
  call: KeyedCall,
): Promise<StoredVersion | undefined> {
  if (!(await lockUnchanged(session, workspaceId, record))) return undefined;
  return conclude(session, { record, specText: await readSpec(session, record.serial) }, { call });
}

/** The artifact with its lock, as long as the version is as it was read. */
async function lockUnchanged(
  session: Tx,
  workspaceId: string,
  { id, serial, revision }: VersionRecord,
): Promise<ArtifactRow | undefined> {
  const artifact = await lockArtifact(session, workspaceId, id);
  const same = await session.get(UNCHANGED, { serial, workspaceId, revision });
  return same === undefined ? undefined : artifact;
}

/** `wanted` as in `refreshListed`. */
async function refresh(session: Tx, artifact: ArtifactRow, wanted?: number | null): Promise<void> {
  await refreshListed(session, artifact, await readCandidates(session, artifact.serial), wanted);
}

async function readSpec(session: Tx, serial: number): Promise<string | undefined> {
  return (await session.get<{ text: string }>(READ_SPEC, { serial }))?.text;
}

type Changed = { record: VersionRecord; specText: string | undefined; isCreated?: boolean };

/** What every change that leaves a version ends with: its audit entry and its response. */
async function conclude(
  session: Tx,
  { record, specText, isCreated = false }: Changed,
  { audit, call }: Partial<Accompaniment>,
): Promise<StoredVersion> {
  if (audit) await appendChange(session, record, audit);
  const relations = await readRelations(session, record.workspaceId, record);
  const stored = { record, relations, specText };
  if (call)
    await putCall(session, { ...call, response: versionResponse(viewOf(stored), { isCreated }) });
  return stored;
}

async function appendChange(session: Tx, record: VersionRecord, audit: ChangeAudit): Promise<void> {
  await appendAudit(session, {
    ...audit,
    subject: auditSubject(record.workspaceId, record.id),
    changes: { version: record.version, ...audit.changes },
  });
}
