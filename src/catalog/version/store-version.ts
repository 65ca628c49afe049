/**
 * Writes versions, in the transaction of a use case: the change, its audit entry, the choice of the version that
 * stands for the artifact, and the response for an idempotency key are seen at once, or none of them. Each begins
 * with the artifact's lock, so that changes of one artifact take turns and what is read after it stays as it is.
 */
import { type ArtifactAction, appendAudit } from '#shared/audit.ts';
import { send, type Tx } from '#shared/database.ts';
import { searchTextOf } from '../reading/search-terms.ts';
import { foldId, type VersionRecord, type VersionView } from './artifact.ts';
import type { Caller } from '../index.ts';
import { auditSubject, readCandidates, refuseUnknown } from './read-version.ts';
import { viewOf } from './version-view.ts';
import { type Candidate, chooseListed, isReadable, orderOf } from './version-order.ts';

export type ArtifactRow = {
  serial: number;
  id: string;
  defaultSerial?: number;
  listedSerial?: number;
  versions: number;
};

const LOCK_ARTIFACT = `
  SELECT serial, id, default_serial, listed_serial, versions FROM catalog_artifact
  WHERE workspace_id = @workspaceId AND id_folded = @idFolded FOR UPDATE`;

/** Nothing where another instance has just made it. */
const INSERT_ARTIFACT = `
  INSERT INTO catalog_artifact (workspace_id, id_folded, id) VALUES (@workspaceId, @idFolded, @id)
  ON CONFLICT (workspace_id, id_folded) DO NOTHING
  RETURNING serial, id, default_serial, listed_serial, versions`;

/** @throws {artifact-not-found} */
export async function lockArtifact(
  tx: Tx,
  { workspaceId }: Caller,
  id: string,
): Promise<ArtifactRow> {
  const values = { workspaceId, idFolded: foldId(id) };
  return (await tx.get<ArtifactRow>(LOCK_ARTIFACT, values)) ?? refuseUnknown('no-artifact');
}

/** Makes it when there is none, with this spelling of its id; another instance may do the same at the same time. */
export async function lockOrMakeArtifact(tx: Tx, caller: Caller, id: string): Promise<ArtifactRow> {
  const values = { workspaceId: caller.workspaceId, idFolded: foldId(id), id };
  const artifact =
    (await tx.get<ArtifactRow>(LOCK_ARTIFACT, values)) ??
    (await tx.get<ArtifactRow>(INSERT_ARTIFACT, values));
  // Somebody else has just made it.
  return artifact ?? lockOrMakeArtifact(tx, caller, id);
}

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

const UPDATE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, type = @type, source = @source, owner = @owner,
    title = @title, project_id = @projectId, group_path = @groupPath, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    members = @members, counts = @counts, findings = @findings, description = @description,
    terms = ${TERMS}
  WHERE serial = @serial`;

/** A move between states changes no content. */
const MOVE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, updated_at = @updatedAt,
    published_at = @publishedAt, deprecated_at = @deprecatedAt, sunset_at = @sunsetAt,
    findings = @findings
  WHERE serial = @serial`;

const DELETE_VERSION = 'DELETE FROM catalog_version WHERE serial = @serial';

const PUT_SPEC = `
  INSERT INTO catalog_spec (version_serial, text) VALUES (@serial, @text)
  ON CONFLICT (version_serial) DO UPDATE SET text = excluded.text`;

const DELETE_SPEC = 'DELETE FROM catalog_spec WHERE version_serial = @serial';

/** Adds a version to those that the artifact has. */
export async function insertVersion(
  tx: Tx,
  artifact: ArtifactRow,
  existing: readonly Candidate[],
  { specText, ...fields }: Omit<VersionRecord, 'serial'> & { specText: string | undefined },
): Promise<VersionRecord> {
  const row = await tx.get<{ serial: number }>(INSERT_VERSION, {
    ...toVersionColumns(fields),
    terms: searchTextOf(fields),
    artifact: artifact.serial,
    isListed: artifact.listedSerial === undefined,
  });
  const record = { ...fields, serial: row?.serial ?? 0 };
  if (specText !== undefined) send(tx, PUT_SPEC, { serial: record.serial, text: specText });
  refreshListed(tx, artifact, [...existing, record]);
  return record;
}

/** Writes a version in the state that it has, with other content. */
export function updateVersion(tx: Tx, next: VersionRecord): void {
  const terms = searchTextOf(next);
  send(tx, UPDATE_VERSION, { ...toVersionColumns(next), terms, serial: next.serial });
}

/** Writes the spec of a version; undefined takes it away. */
export function updateSpec(tx: Tx, { serial }: VersionRecord, specText: string | undefined): void {
  if (specText === undefined) send(tx, DELETE_SPEC, { serial });
  else send(tx, PUT_SPEC, { serial, text: specText });
}

/** Writes a version in another state. */
export async function moveVersion(
  tx: Tx,
  artifact: ArtifactRow,
  next: VersionRecord,
): Promise<void> {
  send(tx, MOVE_VERSION, { ...toVersionColumns(next), serial: next.serial });
  refreshListed(tx, artifact, await readCandidates(tx, artifact.serial));
}

/** Removes a version, and with its last one the artifact. */
export async function removeVersion(
  tx: Tx,
  artifact: ArtifactRow,
  { serial }: VersionRecord,
): Promise<void> {
  send(tx, DELETE_VERSION, { serial });
  refreshListed(tx, artifact, await readCandidates(tx, artifact.serial));
}

/**
 * A version by the columns that it is stored in, lists and objects as JSON. Its id and its serial are the
 * store's.
 */
function toVersionColumns(record: Omit<VersionRecord, 'serial' | 'id'>) {
  return {
    workspaceId: record.workspaceId,
    version: record.version,
    orderKey: orderOf(record.version).key,
    revision: record.revision,
    lifecycle: record.lifecycle,
    type: record.type,
    source: record.source,
    owner: record.owner,
    title: record.title,
    projectId: record.projectId,
    groupPath: record.groupPath,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    publishedAt: record.publishedAt,
    deprecatedAt: record.deprecatedAt,
    sunsetAt: record.sunsetAt,
    members: record.members && JSON.stringify(record.members),
    counts: record.counts && JSON.stringify(record.counts),
    findings: record.findings.length === 0 ? undefined : JSON.stringify(record.findings),
    description: record.description,
  };
}

const SET_ARTIFACT = `
  UPDATE catalog_artifact SET listed_serial = @chosen, versions = @versions, default_serial = @defaultSerial
  WHERE serial = @artifact`;

const DELETE_ARTIFACT = 'DELETE FROM catalog_artifact WHERE serial = @artifact';

const SET_LISTED = `
  UPDATE catalog_version SET is_listed = (serial = @chosen) WHERE serial IN (@chosen, @former)`;

/**
 * Chooses the version that stands for the artifact in lists and searches (the columns `listed_serial`
 * and `is_listed`), of those that it has now, and drops an artifact without versions. `wanted` is the
 * version that is set as default now, null when none is any more.
 */
export function refreshListed(
  tx: Tx,
  artifact: ArtifactRow,
  versions: readonly Candidate[],
  wanted: number | null | undefined = artifact.defaultSerial,
): void {
  const setVersion = versions.find((version) => version.serial === wanted && isReadable(version));
  const chosen = chooseListed(versions, setVersion?.serial);
  if (!chosen) {
    send(tx, DELETE_ARTIFACT, { artifact: artifact.serial });
    return;
  }
  const isMoved = chosen.serial !== artifact.listedSerial;
  // The first version was written as what it is.
  if (isMoved && artifact.listedSerial !== undefined)
    send(tx, SET_LISTED, { chosen: chosen.serial, former: artifact.listedSerial });
  const defaultSerial = setVersion?.serial;
  if (isMoved || versions.length !== artifact.versions || defaultSerial !== artifact.defaultSerial)
    send(tx, SET_ARTIFACT, {
      artifact: artifact.serial,
      chosen: chosen.serial,
      versions: versions.length,
      defaultSerial,
    });
}

/** For the audit log. */
type Done = { at: number; action: ArtifactAction; changes?: Record<string, unknown> };

/** Writes into the audit log what was done to a version. */
export function appendChange(
  tx: Tx,
  { actor, requestId }: Caller,
  { workspaceId, id, version }: VersionRecord,
  { at, action, changes }: Done,
): void {
  appendAudit(tx, {
    at,
    actor,
    action: `artifact.${action}`,
    subject: auditSubject(workspaceId, id),
    changes: { version, ...changes },
    requestId,
  });
}

declare const stored: unique symbol;

/** A version whose response is stored. The mark keeps out what a use case read and stored nothing of. */
export type StoredView = VersionView & { readonly [stored]: true };

/**
 * The version as the response says it, which is stored under the call's idempotency key where it has one.
 * @throws {idempotency-in-progress} the key has been taken meanwhile
 */
export async function toStoredView(
  tx: Tx,
  caller: Caller,
  found: { record: VersionRecord; specText: string | undefined },
  { isCreated = false } = {},
): Promise<StoredView> {
  const view = { ...(await viewOf(tx, found)), ...(isCreated && { isCreated }) };
  await caller.storeUnderKey?.(tx, view);
  return view as StoredView;
}
