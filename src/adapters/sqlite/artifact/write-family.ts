import { isDeepStrictEqual } from 'node:util';
import { foldId, VERSIONS_MAX } from '#catalog/version/artifact.ts';
import { dependsOnOthers, objectionTo, otherType } from '#catalog/version/order/other-versions.ts';
import { toVersionColumns } from '#catalog/version/version-columns.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type {
  Change,
  ChangeAudit,
  Inserted,
  NewVersion,
  OtherType,
  Relations,
  StoredVersion,
} from '#catalog/artifact-store.ts';
import type { StoredRun } from '#shared/idempotency.ts';
import { nextVersion } from '#catalog/version/order/version-order.ts';
import { createRepresentativeWriter } from './representative.ts';
import type { ArtifactRow, RepresentativeWriter } from './representative.ts';
import { createRelationsReader } from './relations.ts';
import { appendAudit as append } from '../../store/audit-log.ts';
import { putRun } from '../../store/idempotency-store.ts';
import type { Session } from '../../store/session.ts';
import type { Connection } from '../connection/connection.ts';
import { Undo } from '../writer/writer.ts';
import type { WriteFamily } from '../writer/writer.ts';

/** A response that is to be stored for an idempotency key, and the version that it shows. */
type RenderedResponse = { of: StoredVersion; run: StoredRun };

/** What is written with a change. */
export type Beside = {
  audit: ChangeAudit;
  /** `wanted`: it is not rendered yet, for it shows what only the change brings about. */
  response: 'none' | 'wanted' | RenderedResponse;
};

/** Nothing was changed: what the response would have to show is this, and not what it shows. */
export type Unrendered = { kind: 'unrendered'; stored: StoredVersion };

/**
 * What writes of `ArtifactStore`. Each is one transaction: the change, its audit entry, the search
 * text, the default, and the response for an idempotency key. Undefined as for `ArtifactStore`.
 */
export type ArtifactWrites = {
  insert(workspaceId: string, version: NewVersion, beside: Beside): Promise<Inserted | Unrendered>;
  change(
    workspaceId: string,
    change: Change,
    beside: Beside,
  ): Promise<StoredVersion | Unrendered | OtherType | undefined>;
  remove(workspaceId: string, record: VersionRecord, audit: ChangeAudit): Promise<boolean>;
  pin(
    workspaceId: string,
    record: VersionRecord,
    beside: Beside,
  ): Promise<StoredVersion | Unrendered | undefined>;
  unpin(workspaceId: string, record: VersionRecord, audit: ChangeAudit): Promise<boolean>;
};

export const artifactWrites: WriteFamily<undefined, ArtifactWrites> = {
  name: 'artifact',
  create: createArtifactWrites,
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
    publishedAt = @publishedAt, deprecatedAt = @deprecatedAt, sunsetAt = @sunsetAt,
    findings = @findings
  WHERE serial = @serial AND workspaceId = @workspaceId AND revision = @formerRevision`;

function prepare({ handle }: Connection) {
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
  session: Session;
};

function createArtifactWrites(connection: Connection): ArtifactWrites {
  const deps: WriteDeps = {
    statements: prepare(connection),
    representative: createRepresentativeWriter(connection),
    relations: createRelationsReader(connection),
    session: connection,
  };
  return {
    insert: (workspaceId, version, beside) => insert(deps, { workspaceId, version, beside }),
    change: (workspaceId, change, beside) => applyChange(deps, { workspaceId, change, beside }),
    remove: (workspaceId, record, audit) => remove(deps, { workspaceId, record, audit }),
    pin: (workspaceId, record, beside) => pin(deps, { workspaceId, record, beside }),
    unpin: (workspaceId, record, audit) => unpin(deps, { workspaceId, record, audit }),
  };
}

type Insert = { workspaceId: string; version: NewVersion; beside: Beside };

async function insert(
  deps: WriteDeps,
  { workspaceId, version, beside }: Insert,
): Promise<Inserted> {
  const { statements, representative } = deps;
  const found = statements.artifact.get(workspaceId, foldId(version.id));
  if (found && found.versions >= VERSIONS_MAX) return { kind: 'full' };
  const existing = found ? representative.candidates(found.serial) : [];
  const name = version.version ?? nextVersion(existing);
  if (name === undefined) return { kind: 'nameless' };
  const taken = existing.find((candidate) => candidate.version === name);
  if (taken) return { kind: 'taken', version: name, current: taken.lifecycle };
  const mismatch = otherType(existing, version);
  if (mismatch) return mismatch;
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
    ...toVersionColumns(fields),
    artifactSerial: artifact.serial,
    isFace: found ? 0 : 1,
  });
  const record = { ...fields, id: artifact.id, serial: Number(lastInsertRowid) };
  if (specText !== undefined) statements.putSpec.run(record.serial, specText);
  if (found) representative.addVersion(found, record);
  else representative.addFirst(artifact.serial, record);
  return { kind: 'inserted', stored: await conclude(deps, { record, specText, beside }) };
}

function makeArtifact(statements: Statements, workspaceId: string, id: string): ArtifactRow {
  const { lastInsertRowid } = statements.insertArtifact.run(workspaceId, foldId(id), id);
  const serial = Number(lastInsertRowid);
  return { serial, id, pinnedSerial: null, faceSerial: null, versions: 0 };
}

type Changing = { workspaceId: string; change: Change; beside: Beside };

async function applyChange(
  deps: WriteDeps,
  { workspaceId, change, beside }: Changing,
): Promise<StoredVersion | OtherType | undefined> {
  const { statements, representative } = deps;
  const { former, next, specText = statements.readSpec.get(next.serial) } = change;
  const artifact = statements.artifact.get(workspaceId, foldId(next.id));
  const objection = artifact && objectionOf(deps, artifact, change);
  if (objection) return objection === 'overtaken' ? undefined : objection;
  const isMove = former.lifecycle !== next.lifecycle;
  const { changes } = statements[isMove ? 'moveVersion' : 'updateVersion'].run({
    ...toVersionColumns(next),
    workspaceId,
    serial: former.serial,
    formerRevision: former.revision,
  });
  if (changes === 0) return undefined;
  if (change.specText === null) statements.deleteSpec.run(next.serial);
  else if (change.specText !== undefined) statements.putSpec.run(next.serial, change.specText);
  if (artifact) representative.changeVersion(artifact, former, next);
  return conclude(deps, { record: next, specText: specText ?? undefined, beside });
}

function objectionOf({ representative }: WriteDeps, artifact: ArtifactRow, change: Change) {
  return dependsOnOthers(change)
    ? objectionTo(change, representative.candidates(artifact.serial))
    : undefined;
}

type Removal = { workspaceId: string; record: VersionRecord; audit: ChangeAudit };

async function remove(deps: WriteDeps, { workspaceId, record, audit }: Removal): Promise<boolean> {
  const { statements } = deps;
  const { changes } = statements.deleteVersion.run(record.serial, workspaceId, record.revision);
  if (changes === 0) return false;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.representative.removeVersion(artifact, record.serial);
  await appendAudit(deps, record, audit);
  return true;
}

type Pinning = { workspaceId: string; record: VersionRecord; beside: Beside };

async function pin(
  deps: WriteDeps,
  { workspaceId, record, beside }: Pinning,
): Promise<StoredVersion | undefined> {
  const { statements } = deps;
  if (!statements.unchanged.get(record.serial, workspaceId, record.revision)) return undefined;
  const artifact = statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact) deps.representative.pin(artifact, record.serial);
  return conclude(deps, { record, specText: statements.readSpec.get(record.serial), beside });
}

async function unpin(deps: WriteDeps, { workspaceId, record, audit }: Removal): Promise<boolean> {
  const artifact = deps.statements.artifact.get(workspaceId, foldId(record.id));
  if (artifact?.pinnedSerial !== record.serial) return false;
  deps.representative.pin(artifact, null);
  await appendAudit(deps, record, audit);
  return true;
}

type Changed = { record: VersionRecord; specText: string | undefined; beside: Beside };

/**
 * What every change that leaves a version ends with: its audit entry and its response.
 * @throws {Undo} with `Unrendered`
 */
async function conclude(
  deps: WriteDeps,
  { record, specText, beside }: Changed,
): Promise<StoredVersion> {
  await appendAudit(deps, record, beside.audit);
  const relations = deps.relations(record.workspaceId, record);
  const stored = { record, relations, ...(specText !== undefined && { specText }) };
  const { response } = beside;
  if (response === 'none') return stored;
  if (response === 'wanted' || !isDeepStrictEqual(response.of, stored))
    throw new Undo({ kind: 'unrendered', stored } satisfies Unrendered);
  await putRun(deps.session, response.run);
  return stored;
}

async function appendAudit(
  { session }: WriteDeps,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<void> {
  await append(session, {
    ...audit,
    subject: auditSubject(record.workspaceId, record.id),
    changes: { version: record.version, ...audit.changes },
  });
}

/** What an artifact is called in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}
