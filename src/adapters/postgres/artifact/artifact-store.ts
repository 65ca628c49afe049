import { foldId } from '#catalog/version/artifact.ts';
import type { ArtifactStore, ReadVersion, VersionRef } from '#catalog/artifact-store.ts';
import { isReadable } from '#catalog/version/order/default-version.ts';
import { createArtifactLists } from './list.ts';
import { readRelations } from './relations.ts';
import { readCandidates, toRecord, VERSION_COLUMNS } from './rows.ts';
import type { VersionRow } from './rows.ts';
import { createArtifactWriter } from './write.ts';
import type { Database, Session } from '../connection/database.ts';
import { createVersionReader } from '../connection/data-version.ts';

type FoundRow = VersionRow & { specText: string | null };

const SPEC = 'LEFT JOIN catalog_spec s ON s.version_serial = v.serial';
const OF_ARTIFACT = 'a.workspace_id = @workspaceId AND a.id_folded = @idFolded';

const readDefault = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.face_serial ${join}
  WHERE ${OF_ARTIFACT}`;

const readNamed = (specText: string, join: string): string => `
  SELECT ${VERSION_COLUMNS}, ${specText} AS spec_text
  FROM catalog_artifact a JOIN catalog_version v ON v.artifact_serial = a.serial ${join}
  WHERE ${OF_ARTIFACT} AND v.version = @version`;

const READ = {
  default: { spec: readDefault('s.text', SPEC), bare: readDefault('NULL', '') },
  named: { spec: readNamed('s.text', SPEC), bare: readNamed('NULL', '') },
};

const ARTIFACT = `SELECT a.serial FROM catalog_artifact a WHERE ${OF_ARTIFACT}`;

/** Artifacts in PostgreSQL. */
export function createArtifactStore(database: Database): ArtifactStore {
  return {
    version: createVersionReader(database),
    read: (workspaceId, ref, { withSpec }) =>
      readVersion(database, workspaceId, { ...ref, part: withSpec ? 'spec' : 'bare' }),
    relations: (workspaceId, record) => readRelations(database, workspaceId, record),
    candidates: async (workspaceId, id) => {
      const artifact = await findArtifact(database, workspaceId, foldId(id));
      return artifact === undefined ? undefined : readCandidates(database, artifact);
    },
    ...createArtifactWriter(database),
    ...createArtifactLists(database),
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
  const { specText, ...stored } = row;
  const record = toRecord(stored);
  if (version === undefined && !isReadable(record))
    return { kind: 'no-default', representative: record };
  return { kind: 'found', record, ...(specText !== null && { specText }) };
}
