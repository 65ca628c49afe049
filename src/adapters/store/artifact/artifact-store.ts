import { foldId } from '#catalog/version/artifact.ts';
import type { ArtifactStore, ReadVersion, VersionRef } from '#catalog/artifact-store.ts';
import { isReadable } from '#catalog/version/version-order.ts';
import { bindWrites, type Session, type StoreDatabase } from '../session.ts';
import { createArtifactLists, type SearchVersions } from './list.ts';
import { readRelations } from './relations.ts';
import { OF_ARTIFACT, readCandidates, toRecord, VERSION_COLUMNS, type VersionRow } from './rows.ts';
import { artifactWrites } from './writes.ts';

type FoundRow = VersionRow & { specText?: string };

const SPEC = 'LEFT JOIN catalog_spec s ON s.version_serial = v.serial';

const readDefault = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.listed_serial ${join}
  WHERE ${OF_ARTIFACT}`;

const readNamed = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.artifact_serial = a.serial ${join}
  WHERE ${OF_ARTIFACT} AND v.version = /*sqlite +*/@version`;

const READ = {
  default: { spec: readDefault('s.text', SPEC), bare: readDefault('NULL', '') },
  named: { spec: readNamed('s.text', SPEC), bare: readNamed('NULL', '') },
};

const ARTIFACT = `SELECT a.serial FROM catalog_artifact a WHERE ${OF_ARTIFACT}`;

export type ArtifactStoreDeps = {
  database: StoreDatabase;
  search: SearchVersions;
};

/** Artifacts, whatever the engine. */
export function createArtifactStore({ database, search }: ArtifactStoreDeps): ArtifactStore {
  return {
    ...bindWrites(database.writer.call, 'artifact', artifactWrites),
    ...createArtifactLists(database, search),
    dataVersion: () => database.dataVersion(),
    read: (workspaceId, ref, { withSpec }) =>
      readVersion(database, workspaceId, { ...ref, part: withSpec ? 'spec' : 'bare' }),
    relations: (workspaceId, record) => readRelations(database, workspaceId, record),
    candidates: async (workspaceId, id) => {
      const artifact = await findArtifact(database, workspaceId, foldId(id));
      return artifact === undefined ? undefined : readCandidates(database, artifact);
    },
  };
}

async function findArtifact(
  session: Session,
  workspaceId: string,
  idFolded: string,
): Promise<number | undefined> {
  return (await session.get<{ serial: number }>(ARTIFACT, { workspaceId, idFolded }))?.serial;
}

async function readVersion(
  session: Session,
  workspaceId: string,
  { id, version, part }: VersionRef & { part: 'spec' | 'bare' },
): Promise<ReadVersion> {
  const idFolded = foldId(id);
  const statement = READ[version === undefined ? 'default' : 'named'][part];
  const row = await session.get<FoundRow>(statement, { workspaceId, idFolded, version });
  if (!row) {
    const isKnown = (await findArtifact(session, workspaceId, idFolded)) !== undefined;
    return { kind: isKnown ? 'no-version' : 'no-artifact' };
  }
  const record = toRecord(row);
  if (version === undefined && !isReadable(record)) return { kind: 'no-default', listed: record };
  return { kind: 'found', record, specText: row.specText };
}
