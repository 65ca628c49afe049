import type { VersionRecord } from '#catalog/version/artifact.ts';
import { chooseRepresentative, isReadable } from '#catalog/version/order/default-version.ts';
import type { Candidate } from '#catalog/version/order/default-version.ts';
import { searchTextOf } from '#catalog/reading/search-terms.ts';
import type { RowOf } from '#shared/store/row.ts';
import { createCandidatesReader } from './rows.ts';
import type { Connection } from '../connection/connection.ts';

/** A row of `catalog_artifact`. */
export type ArtifactRow = {
  serial: number;
  id: string;
  pinnedSerial: number | null;
  faceSerial: number | null;
  versions: number;
};

/** Why an artifact is looked at anew. */
type RefreshReason = {
  /** The version that is set as default now; null when none is any more. */
  pinned?: number | null;
  /** The version whose search text is another one now. */
  rewritten?: number;
};

/**
 * Writes what stands for an artifact in lists and searches: its representative version (the columns
 * `faceSerial` and `isFace`) and both search texts. Every function is part of the transaction of the
 * change.
 */
export type RepresentativeWriter = {
  candidates(artifactSerial: number): Candidate[];
  /** The first version stands for its artifact whatever its state; it was written as such. */
  addFirst(artifactSerial: number, record: VersionRecord): void;
  addVersion(artifact: ArtifactRow, record: VersionRecord): void;
  changeVersion(artifact: ArtifactRow, former: VersionRecord, next: VersionRecord): void;
  removeVersion(artifact: ArtifactRow, serial: number): void;
  /** Sets the default version; null for none. */
  pin(artifact: ArtifactRow, serial: number | null): void;
};

/** The fields of a search text that can change. */
const SEARCHED = ['title', 'description', 'owner', 'groupPath'] as const;

type SearchedRow = RowOf<Pick<VersionRecord, (typeof SEARCHED)[number]>>;

function prepare(connection: Connection) {
  const { handle } = connection;
  return {
    candidates: createCandidatesReader(connection),
    searched: handle.prepare<[number], SearchedRow>(
      'SELECT title, description, owner, groupPath FROM catalog_version WHERE serial = ?',
    ),
    setArtifact: handle.prepare<[number, number, number | null, number]>(
      'UPDATE catalog_artifact SET faceSerial = ?, versions = ?, pinnedSerial = ? WHERE serial = ?',
    ),
    deleteArtifact: handle.prepare<[number]>('DELETE FROM catalog_artifact WHERE serial = ?'),
    clearRepresentative: handle.prepare<[number, number]>(
      'UPDATE catalog_version SET isFace = 0 WHERE artifactSerial = ? AND isFace = 1 AND serial <> ?',
    ),
    setRepresentative: handle.prepare<[number]>(
      'UPDATE catalog_version SET isFace = 1 WHERE serial = ?',
    ),
    deleteArtifactText: handle.prepare<[number]>(
      'DELETE FROM catalog_artifact_text WHERE rowid = ?',
    ),
    putArtifactText: handle.prepare<[number, string]>(
      'INSERT INTO catalog_artifact_text (rowid, terms) VALUES (?, ?)',
    ),
    deleteVersionText: handle.prepare<[number]>('DELETE FROM catalog_version_text WHERE rowid = ?'),
    putVersionText: handle.prepare<[number, string]>(
      'INSERT INTO catalog_version_text (rowid, terms) VALUES (?, ?)',
    ),
  };
}

type Statements = ReturnType<typeof prepare>;

export function createRepresentativeWriter(connection: Connection): RepresentativeWriter {
  const statements = prepare(connection);
  return {
    candidates: statements.candidates,
    addFirst: (artifactSerial, record) => {
      const text = searchTextOf(record);
      statements.putVersionText.run(record.serial, text);
      statements.setArtifact.run(record.serial, 1, null, artifactSerial);
      statements.putArtifactText.run(artifactSerial, text);
    },
    addVersion: (artifact, record) => {
      statements.putVersionText.run(record.serial, searchTextOf(record));
      refresh(statements, artifact, {});
    },
    changeVersion: (artifact, former, next) => {
      // Writing full text is the dearest part of a change: it is left alone where it stays the same.
      const isRewritten = SEARCHED.some((field) => former[field] !== next[field]);
      if (isRewritten) {
        statements.deleteVersionText.run(next.serial);
        statements.putVersionText.run(next.serial, searchTextOf(next));
      }
      if (isRewritten || former.lifecycle !== next.lifecycle)
        refresh(statements, artifact, { ...(isRewritten && { rewritten: next.serial }) });
    },
    removeVersion: (artifact, serial) => {
      statements.deleteVersionText.run(serial);
      refresh(statements, artifact, {});
    },
    pin: (artifact, serial) => refresh(statements, artifact, { pinned: serial }),
  };
}

/** Chooses the version that stands for the artifact, and drops an artifact without versions. */
function refresh(statements: Statements, artifact: ArtifactRow, reason: RefreshReason): void {
  const versions = statements.candidates(artifact.serial);
  const wanted = reason.pinned === undefined ? artifact.pinnedSerial : reason.pinned;
  const pinned = versions.find((version) => version.serial === wanted && isReadable(version));
  const chosen = chooseRepresentative(versions, pinned?.serial);
  if (!chosen) {
    statements.deleteArtifactText.run(artifact.serial);
    statements.deleteArtifact.run(artifact.serial);
    return;
  }
  const isMoved = chosen.serial !== artifact.faceSerial;
  if (isMoved) {
    statements.clearRepresentative.run(artifact.serial, chosen.serial);
    statements.setRepresentative.run(chosen.serial);
  }
  const pinnedSerial = pinned?.serial ?? null;
  if (isMoved || versions.length !== artifact.versions || pinnedSerial !== artifact.pinnedSerial)
    statements.setArtifact.run(chosen.serial, versions.length, pinnedSerial, artifact.serial);
  if (isMoved || reason.rewritten === chosen.serial)
    rewriteArtifact(statements, artifact, chosen.serial);
}

function rewriteArtifact(statements: Statements, artifact: ArtifactRow, serial: number): void {
  const fields = statements.searched.get(serial);
  if (!fields) return;
  const text = searchTextOf({ ...toSearched(fields), id: artifact.id });
  statements.deleteArtifactText.run(artifact.serial);
  statements.putArtifactText.run(artifact.serial, text);
}

function toSearched({ title, owner, description, groupPath }: SearchedRow) {
  return {
    title,
    owner,
    ...(description !== null && { description }),
    ...(groupPath !== null && { groupPath }),
  };
}
