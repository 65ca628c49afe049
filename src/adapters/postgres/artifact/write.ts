import { foldId, VERSIONS_MAX } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { dependsOnOthers, objectionTo, otherType } from '#catalog/version/order/other-versions.ts';
import type {
  Accompaniment,
  ArtifactStore,
  Change,
  ChangeAudit,
  Inserted,
  NewVersion,
  OtherType,
  StoredVersion,
} from '#catalog/artifact-store.ts';
import { nextVersion } from '#catalog/version/order/version-order.ts';
import { appendAudit } from '../../store/audit-log.ts';
import type { Database, Session } from '../connection/database.ts';
import { putRun } from '../../store/idempotency-store.ts';
import { readRelations } from './relations.ts';
import { refreshRepresentative } from './representative.ts';
import type { ArtifactRow } from './representative.ts';
import { readCandidates, toColumns } from './rows.ts';
import * as sql from './statements.ts';

/** What a change needs. Every function here is part of one transaction. */
type Writing = { session: Session; workspaceId: string };

/**
 * What writes of `ArtifactStore`. Each call is one transaction: the change, its audit entry, the
 * default, and the response for an idempotency key. It begins with the artifact's lock, so that
 * changes of one artifact take turns.
 */
export function createArtifactWriter(
  database: Database,
): Pick<ArtifactStore, 'insert' | 'change' | 'remove' | 'pin' | 'unpin'> {
  const within = <T>(workspaceId: string, work: (writing: Writing) => Promise<T>): Promise<T> =>
    database.transaction((session) => work({ session, workspaceId }));
  return {
    insert: (workspaceId, version, beside) =>
      within(workspaceId, (writing) => insert(writing, version, beside)),
    change: (workspaceId, change, beside) =>
      within(workspaceId, (writing) => applyChange(writing, change, beside)),
    remove: (workspaceId, record, audit) =>
      within(workspaceId, (writing) => remove(writing, record, audit)),
    pin: (workspaceId, record, beside) =>
      within(workspaceId, (writing) => pin(writing, record, beside)),
    unpin: (workspaceId, record, audit) =>
      within(workspaceId, (writing) => unpin(writing, record, audit)),
  };
}

function lockArtifact(
  { session, workspaceId }: Writing,
  id: string,
): Promise<ArtifactRow | undefined> {
  return session.get<ArtifactRow>(sql.LOCK_ARTIFACT, { workspaceId, idFolded: foldId(id) });
}

/** Makes it when there is none; another instance may do the same at the same time. */
async function lockOrMakeArtifact(writing: Writing, id: string): Promise<ArtifactRow> {
  const found = await lockArtifact(writing, id);
  if (found) return found;
  const { session, workspaceId } = writing;
  await session.run(sql.INSERT_ARTIFACT, { workspaceId, idFolded: foldId(id), id });
  const made = await lockArtifact(writing, id);
  // Somebody else made it, and removed it again before it could be locked.
  return made ?? lockOrMakeArtifact(writing, id);
}

async function insert(
  writing: Writing,
  version: NewVersion,
  beside: Accompaniment,
): Promise<Inserted> {
  const { session, workspaceId } = writing;
  const artifact = await lockOrMakeArtifact(writing, version.id);
  if (artifact.versions >= VERSIONS_MAX) return { kind: 'full' };
  const existing = await readCandidates(session, artifact.serial);
  const name = version.version ?? nextVersion(existing);
  if (name === undefined) return { kind: 'nameless' };
  const taken = existing.find((candidate) => candidate.version === name);
  if (taken) return { kind: 'taken', version: name, current: taken.lifecycle };
  const mismatch = otherType(existing, version);
  if (mismatch) return mismatch;
  const { specText, ...content } = version;
  const fields = {
    ...content,
    id: artifact.id,
    workspaceId,
    version: name,
    lifecycle: 'DRAFT' as const,
    revision: 1,
  };
  const row = await session.get<{ serial: number }>(sql.INSERT_VERSION, {
    ...toColumns(fields),
    artifact: artifact.serial,
  });
  const record = { ...fields, serial: row?.serial ?? 0 };
  if (specText !== undefined) await putSpec(session, record.serial, specText);
  await refreshRepresentative(session, artifact, { versions: [...existing, record] });
  return { kind: 'inserted', stored: await conclude(writing, { record, specText }, beside) };
}

async function putSpec(session: Session, serial: number, text: string): Promise<void> {
  await session.run(sql.PUT_SPEC, { serial, text });
}

async function readSpec(session: Session, serial: number): Promise<string | undefined> {
  return (await session.get<{ text: string }>(sql.READ_SPEC, { serial }))?.text;
}

async function applyChange(
  writing: Writing,
  change: Change,
  beside: Accompaniment,
): Promise<StoredVersion | OtherType | undefined> {
  const { session, workspaceId } = writing;
  const { former, next } = change;
  const artifact = await lockArtifact(writing, next.id);
  const objection = artifact && (await objectionOf(session, artifact, change));
  if (objection) return objection === 'overtaken' ? undefined : objection;
  const isMove = former.lifecycle !== next.lifecycle;
  const changes = await session.run(isMove ? sql.MOVE_VERSION : sql.UPDATE_VERSION, {
    ...toColumns(next),
    workspaceId,
    serial: former.serial,
    formerRevision: former.revision,
  });
  if (changes === 0 || !artifact) return undefined;
  const { specText = await readSpec(session, next.serial) } = change;
  if (change.specText === null) await session.run(sql.DELETE_SPEC, { serial: next.serial });
  else if (change.specText !== undefined) await putSpec(session, next.serial, change.specText);
  if (isMove)
    await refreshRepresentative(session, artifact, {
      versions: await readCandidates(session, artifact.serial),
    });
  return conclude(writing, { record: next, specText: specText ?? undefined }, beside);
}

async function objectionOf(session: Session, artifact: ArtifactRow, change: Change) {
  return dependsOnOthers(change)
    ? objectionTo(change, await readCandidates(session, artifact.serial))
    : undefined;
}

async function remove(
  writing: Writing,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<boolean> {
  const { session, workspaceId } = writing;
  const { serial, revision } = record;
  const artifact = await lockArtifact(writing, record.id);
  const changes = await session.run(sql.DELETE_VERSION, { serial, workspaceId, revision });
  if (changes === 0 || !artifact) return false;
  await refreshRepresentative(session, artifact, {
    versions: await readCandidates(session, artifact.serial),
  });
  await appendChange(session, record, audit);
  return true;
}

async function pin(
  writing: Writing,
  record: VersionRecord,
  beside: Accompaniment,
): Promise<StoredVersion | undefined> {
  const { session, workspaceId } = writing;
  const { serial, revision } = record;
  const artifact = await lockArtifact(writing, record.id);
  const isUnchanged = await session.get(sql.UNCHANGED, { serial, workspaceId, revision });
  if (!isUnchanged || !artifact) return undefined;
  await refreshRepresentative(session, artifact, {
    versions: await readCandidates(session, artifact.serial),
    pinned: serial,
  });
  return conclude(writing, { record, specText: await readSpec(session, serial) }, beside);
}

async function unpin(
  writing: Writing,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<boolean> {
  const { session } = writing;
  const artifact = await lockArtifact(writing, record.id);
  if (artifact?.pinnedSerial !== record.serial) return false;
  await refreshRepresentative(session, artifact, {
    versions: await readCandidates(session, artifact.serial),
    pinned: null,
  });
  await appendChange(session, record, audit);
  return true;
}

type Changed = { record: VersionRecord; specText: string | undefined };

/** What every change that leaves a version ends with: its audit entry and its response. */
async function conclude(
  { session }: Writing,
  { record, specText }: Changed,
  { audit, toStoredRun }: Accompaniment,
): Promise<StoredVersion> {
  await appendChange(session, record, audit);
  const relations = await readRelations(session, record.workspaceId, record);
  const stored = { record, relations, ...(specText !== undefined && { specText }) };
  if (toStoredRun) await putRun(session, toStoredRun(stored));
  return stored;
}

async function appendChange(
  session: Session,
  record: VersionRecord,
  audit: ChangeAudit,
): Promise<void> {
  await appendAudit(session, {
    ...audit,
    subject: auditSubject(record.workspaceId, record.id),
    changes: { version: record.version, ...audit.changes },
  });
}

/** What an artifact is called in the audit log. An id has no slash, so that it is unambiguous. */
export function auditSubject(workspaceId: string, id: string): string {
  return `artifact/${workspaceId}/${foldId(id)}`;
}
