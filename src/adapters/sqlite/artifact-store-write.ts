import { foldId, VERSIONS_MAX, type VersionRecord } from '#catalog/artifact.ts';
import type { Change, ChangeAudit, Inserted, NewVersion } from '#catalog/artifact-store.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { nextVersion } from '#catalog/version-order.ts';
import { createFaceKeeper, type ArtifactRow, type FaceKeeper } from './artifact-store-face.ts';
import { toColumns } from './artifact-store-rows.ts';
import { createAuditLog } from './audit-log.ts';
import type { Database } from './database.ts';

/** Each function is one transaction: the change, its audit entry, the search text, the default. */
export type ArtifactWriter = {
  insert(workspaceId: string, version: NewVersion, audit: ChangeAudit): Inserted;
  change(workspaceId: string, change: Change, audit: ChangeAudit): boolean;
  remove(workspaceId: string, record: VersionRecord, audit: ChangeAudit): boolean;
  pin(workspaceId: string, record: VersionRecord, audit: ChangeAudit): boolean;
};

const INSERT_VERSION = `
  INSERT INTO catalog_version (
    artifactSerial, workspaceId, version, orderKey, revision, lifecycle, type, source, owner, title,
    projectId, groupPath, createdAt, updatedAt, publishedAt, deprecatedAt, sunsetAt, members, counts,
    findings, description
  ) VALUES (
    @artifactSerial, @workspaceId, @version, @orderKey, @revision, @lifecycle, @type, @source,
    @owner, @title, @projectId, @groupPath, @createdAt, @updatedAt, @publishedAt, @deprecatedAt,
    @sunsetAt, @members, @counts, @findings, @description
  )`;

/** Changes nothing when the row is not any more the one before this revision. */
const UPDATE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, type = @type, source = @source, owner = @owner,
    title = @title, projectId = @projectId, groupPath = @groupPath, updatedAt = @updatedAt,
    publishedAt = @publishedAt, deprecatedAt = @deprecatedAt, sunsetAt = @sunsetAt,
    members = @members, counts = @counts, findings = @findings, description = @description
  WHERE serial = @serial AND workspaceId = @workspaceId AND revision = @formerRevision`;

function prepare({ handle }: Database) {
  return {
    artifact: handle.prepare<[string, string], ArtifactRow>(
      `SELECT serial, id, pinnedSerial, faceSerial, versions FROM catalog_artifact
       WHERE workspaceId = ? AND idFolded = ?`,
    ),
    insertArtifact: handle.prepare<[string, string, string]>(
      'INSERT INTO catalog_artifact (workspaceId, idFolded, id) VALUES (?, ?, ?)',
    ),
    insertVersion: handle.prepare(INSERT_VERSION),
    updateVersion: handle.prepare(UPDATE_VERSION),
    deleteVersion: handle.prepare<[number, string, number]>(
      'DELETE FROM catalog_version WHERE serial = ? AND workspaceId = ? AND revision = ?',
    ),
    putSpec: handle.prepare<[number, string]>(
      'INSERT INTO catalog_spec (versionSerial, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
    ),
    deleteSpec: handle.prepare<[number]>('DELETE FROM catalog_spec WHERE versionSerial = ?'),
    unchanged: handle.prepare<[number, string, number]>(
      'SELECT 1 FROM catalog_version WHERE serial = ? AND workspaceId = ? AND revision = ?',
    ),
  };
}

type Statements = ReturnType<typeof prepare>;

type WriteDeps = { statements: Statements; face: FaceKeeper; append(entry: AuditEntry): void };

export function createArtifactWriter(database: Database): ArtifactWriter {
  const log = createAuditLog(database);
  const deps: WriteDeps = {
    statements: prepare(database),
    face: createFaceKeeper(database),
    append: (entry) => log.append(entry),
  };
  return {
    insert: (workspaceId, version, audit) =>
      database.transaction(() => insert(deps, { workspaceId, version, audit })),
    change: (workspaceId, change, audit) =>
      database.transaction(() => applyChange(deps, { workspaceId, change, audit })),
    remove: (workspaceId, record, audit) =>
      database.transaction(() => remove(deps, { workspaceId, record, audit })),
    pin: (workspaceId, record, audit) =>
      database.transaction(() => pin(deps, { workspaceId, record, audit })),
  };
}

function insert(
  deps: WriteDeps,
  { workspaceId, version, audit }: { workspaceId: string; version: NewVersion; audit: ChangeAudit },
): Inserted {
  const { statements, face } = deps;
  const found = statements.artifact.get(workspaceId, foldId(version.id));
  if (found && found.versions >= VERSIONS_MAX) return { kind: 'full' };
  const existing = found ? face.candidates(found.serial) : [];
  const name = version.version ?? nextVersion(existing);
  if (name === undefined) return { kind: 'nameless' };
  const taken = existing.find((candidate) => candidate.version === name);
  if (taken) return { kind: 'taken', version: name, current: taken.lifecycle };
  const artifact = found ?? makeArtifact(statements, workspaceId, version.id);
  const { specText, ...content } = version;
  const fields = {
    ...content,
    workspaceId,
    version: name,
    lifecycle: 'DRAFT' as const,
    revision: 1,
  };
  const { lastInsertRowid } = statements.insertVersion.run({
    ...toColumns(fields),
    artifactSerial: artifact.serial,
  });
  const record = { ...fields, id: artifact.id, serial: Number(lastInsertRowid) };
  if (specText !== undefined) statements.putSpec.run(record.serial, specText);
  if (found) face.addVersion(found, record);
  else face.addFirst(artifact.serial, record);
  appendAudit(deps, record, audit);
  return { kind: 'inserted', record };
}

function makeArtifact(statements: Statements, workspaceId: string, id: string): ArtifactRow {
  const { lastInsertRowid } = statements.insertArtifact.run(workspaceId, foldId(id), id);
  const serial = Number(lastInsertRowid);
  return { serial, id, pinnedSerial: null, faceSerial: null, versions: 0 };
}

function applyChange(
  deps: WriteDeps,
  { workspaceId, change, audit }: { workspaceId: string; change: Change; audit: ChangeAudit },
): boolean {
  const { statements, face } = deps;
  const { next, specText } = change;
  const former = face.searched(next.serial);
  const { changes } = statements.updateVersion.run({
    ...toColumns(next),
    workspaceId,
    serial: next.serial,
    formerRevision: next.revision - 1,
  });
  if (changes === 0 || !former) return false;
  if (specText === null) statements.deleteSpec.run(next.serial);
  else if (specText !== undefined) statements.putSpec.run(next.serial, specText);
  const rewritten = face.rewrite(former, next);
  const artifact = statements.artifact.get(workspaceId, foldId(next.id));
  if (artifact) face.refresh(artifact, rewritten ? { rewritten: next.serial } : {});
  appendAudit(deps, next, audit);
  return true;
}

function remove(
  deps: WriteDeps,
  {
    workspaceId,
    record,
    audit,
  }: { workspaceId: string; record: VersionRecord; audit: ChangeAudit },
): boolean {
  const { statements } = deps;
  const { changes } = statements.deleteVersion.run(record.serial, workspaceId, record.revision);
  if (changes === 0) return false;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.face.removeVersion(artifact, record.serial);
  appendAudit(deps, record, audit);
  return true;
}

function pin(
  deps: WriteDeps,
  {
    workspaceId,
    record,
    audit,
  }: { workspaceId: string; record: VersionRecord; audit: ChangeAudit },
): boolean {
  const { statements } = deps;
  if (!statements.unchanged.get(record.serial, workspaceId, record.revision)) return false;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.face.refresh(artifact, { pinned: record.serial });
  appendAudit(deps, record, audit);
  return true;
}

function appendAudit(deps: WriteDeps, record: VersionRecord, audit: ChangeAudit): void {
  deps.append({
    ...audit,
    subject: auditSubject(record.workspaceId, record.id),
    changes: { version: record.version, ...audit.changes },
  });
}

/** What an artifact is called in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}
