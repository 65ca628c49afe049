import { foldId, VERSIONS_MAX, type VersionRecord } from '#catalog/version/artifact.ts';
import type {
  Accompaniment,
  ArtifactStore,
  Change,
  ChangeAudit,
  Inserted,
  NewVersion,
  Relations,
  StoredVersion,
} from '#catalog/artifact-store.ts';
import type { StoredRun } from '#shared/idempotency.ts';
import { nextVersion } from '#catalog/version/version-order.ts';
import type { AuditEntry } from '#shared/audit.ts';
import {
  createRepresentativeWriter,
  type ArtifactRow,
  type RepresentativeWriter,
} from './representative.ts';
import { createRelationsReader } from './relations.ts';
import { toColumns } from './rows.ts';
import { createAuditLog } from '../audit-log.ts';
import type { Database } from '../database.ts';
import { createKeyWriter } from '../idempotency-store.ts';

/**
 * What writes of `ArtifactStore`, synchronous. Each function is one transaction: the change, its audit entry, the search text, the default, and
 * the response for an idempotency key.
 */
export type ArtifactWriter = {
  [Name in 'insert' | 'change' | 'remove' | 'pin']: (
    ...input: Parameters<ArtifactStore[Name]>
  ) => Awaited<ReturnType<ArtifactStore[Name]>>;
};

const INSERT_VERSION = `
  INSERT INTO catalog_version (
    artifactSerial, workspaceId, version, orderKey, isFace, revision, lifecycle, type, source, owner,
    title, projectId, groupPath, createdAt, updatedAt, publishedAt, deprecatedAt, sunsetAt, members,
    counts, findings, description
  ) VALUES (
    @artifactSerial, @workspaceId, @version, @orderKey, @isFace, @revision, @lifecycle, @type,
    @source, @owner, @title, @projectId, @groupPath, @createdAt, @updatedAt, @publishedAt,
    @deprecatedAt, @sunsetAt, @members, @counts, @findings, @description
  )`;

/** Changes nothing when the row is not any more the one before this revision. */
const UPDATE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, type = @type, source = @source, owner = @owner,
    title = @title, projectId = @projectId, groupPath = @groupPath, updatedAt = @updatedAt,
    publishedAt = @publishedAt, deprecatedAt = @deprecatedAt, sunsetAt = @sunsetAt,
    members = @members, counts = @counts, findings = @findings, description = @description
  WHERE serial = @serial AND workspaceId = @workspaceId AND revision = @formerRevision`;

/** A move between states changes no content, so that no index of content is written. */
const MOVE_VERSION = `
  UPDATE catalog_version SET
    revision = @revision, lifecycle = @lifecycle, updatedAt = @updatedAt,
    publishedAt = @publishedAt, deprecatedAt = @deprecatedAt, sunsetAt = @sunsetAt
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
    moveVersion: handle.prepare(MOVE_VERSION),
    deleteVersion: handle.prepare<[number, string, number]>(
      'DELETE FROM catalog_version WHERE serial = ? AND workspaceId = ? AND revision = ?',
    ),
    putSpec: handle.prepare<[number, string]>(
      'INSERT INTO catalog_spec (versionSerial, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
    ),
    readSpec: handle
      .prepare<[number], string>('SELECT text FROM catalog_spec WHERE versionSerial = ?')
      .pluck(),
    deleteSpec: handle.prepare<[number]>('DELETE FROM catalog_spec WHERE versionSerial = ?'),
    unchanged: handle.prepare<[number, string, number]>(
      'SELECT 1 FROM catalog_version WHERE serial = ? AND workspaceId = ? AND revision = ?',
    ),
  };
}

type Statements = ReturnType<typeof prepare>;

type WriteDeps = {
  statements: Statements;
  representative: RepresentativeWriter;
  relations(workspaceId: string, record: VersionRecord): Relations;
  append(entry: AuditEntry): void;
  storeRun(run: StoredRun): void;
};

export function createArtifactWriter(database: Database): ArtifactWriter {
  const log = createAuditLog(database);
  const deps: WriteDeps = {
    statements: prepare(database),
    representative: createRepresentativeWriter(database),
    relations: createRelationsReader(database),
    append: (entry) => log.append(entry),
    storeRun: createKeyWriter(database),
  };
  return {
    insert: (workspaceId, version, beside) =>
      database.transaction(() => insert(deps, { workspaceId, version, beside })),
    change: (workspaceId, change, beside) =>
      database.transaction(() => applyChange(deps, { workspaceId, change, beside })),
    remove: (workspaceId, record, audit) =>
      database.transaction(() => remove(deps, { workspaceId, record, audit })),
    pin: (workspaceId, record, beside) =>
      database.transaction(() => pin(deps, { workspaceId, record, beside })),
  };
}

type Insert = { workspaceId: string; version: NewVersion; beside: Accompaniment };

function insert(deps: WriteDeps, { workspaceId, version, beside }: Insert): Inserted {
  const { statements, representative } = deps;
  const found = statements.artifact.get(workspaceId, foldId(version.id));
  if (found && found.versions >= VERSIONS_MAX) return { kind: 'full' };
  const existing = found ? representative.candidates(found.serial) : [];
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
    isFace: found ? 0 : 1,
  });
  const record = { ...fields, id: artifact.id, serial: Number(lastInsertRowid) };
  if (specText !== undefined) statements.putSpec.run(record.serial, specText);
  if (found) representative.addVersion(found, record);
  else representative.addFirst(artifact.serial, record);
  return { kind: 'inserted', stored: conclude(deps, { record, specText, beside }) };
}

function makeArtifact(statements: Statements, workspaceId: string, id: string): ArtifactRow {
  const { lastInsertRowid } = statements.insertArtifact.run(workspaceId, foldId(id), id);
  const serial = Number(lastInsertRowid);
  return { serial, id, pinnedSerial: null, faceSerial: null, versions: 0 };
}

type Changing = { workspaceId: string; change: Change; beside: Accompaniment };

function applyChange(
  deps: WriteDeps,
  { workspaceId, change, beside }: Changing,
): StoredVersion | undefined {
  const { statements, representative } = deps;
  const { former, next, specText = statements.readSpec.get(next.serial) } = change;
  const isMove = former.lifecycle !== next.lifecycle;
  const { changes } = statements[isMove ? 'moveVersion' : 'updateVersion'].run({
    ...toColumns(next),
    workspaceId,
    serial: former.serial,
    formerRevision: former.revision,
  });
  if (changes === 0) return undefined;
  if (change.specText === null) statements.deleteSpec.run(next.serial);
  else if (change.specText !== undefined) statements.putSpec.run(next.serial, change.specText);
  const artifact = statements.artifact.get(workspaceId, foldId(next.id));
  if (artifact) representative.changeVersion(artifact, former, next);
  return conclude(deps, { record: next, specText: specText ?? undefined, beside });
}

type Removal = { workspaceId: string; record: VersionRecord; audit: ChangeAudit };

function remove(deps: WriteDeps, { workspaceId, record, audit }: Removal): boolean {
  const { statements } = deps;
  const { changes } = statements.deleteVersion.run(record.serial, workspaceId, record.revision);
  if (changes === 0) return false;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.representative.removeVersion(artifact, record.serial);
  appendAudit(deps, record, audit);
  return true;
}

type Pinning = { workspaceId: string; record: VersionRecord; beside: Accompaniment };

function pin(deps: WriteDeps, { workspaceId, record, beside }: Pinning): StoredVersion | undefined {
  const { statements } = deps;
  if (!statements.unchanged.get(record.serial, workspaceId, record.revision)) return undefined;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.representative.pin(artifact, record.serial);
  return conclude(deps, { record, specText: statements.readSpec.get(record.serial), beside });
}

type Changed = { record: VersionRecord; specText: string | undefined; beside: Accompaniment };

/** What every change that leaves a version ends with: its audit entry and its response. */
function conclude(deps: WriteDeps, { record, specText, beside }: Changed): StoredVersion {
  appendAudit(deps, record, beside.audit);
  const relations = deps.relations(record.workspaceId, record);
  const stored = { record, relations, ...(specText !== undefined && { specText }) };
  if (beside.toStoredRun) deps.storeRun(beside.toStoredRun(stored));
  return stored;
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
