import { foldId } from '#catalog/version/artifact.ts';
import type { ArtifactStore, ReadVersion, VersionRef } from '#catalog/artifact-store.ts';
import { isReadable } from '#catalog/version/order/default-version.ts';
import { createArtifactLists } from './list.ts';
import { createRelationsReader } from './relations.ts';
import { createCandidatesReader, toRecord, VERSION_COLUMNS } from './rows.ts';
import type { VersionRow } from './rows.ts';
import { createRenderedWrites } from './rendered-writes.ts';
import type { Database } from '../connection/database.ts';
import { guard } from '../connection/errors.ts';

type FoundRow = VersionRow & { specText: string | null };

const SPEC = 'LEFT JOIN catalog_spec s ON s.versionSerial = v.serial';

/** A plus before a parameter: see `openConnection`. */
function prepareReads({ handle }: Database) {
  const readDefault = (specText: string, join: string) =>
    handle.prepare<[string, string], FoundRow>(
      `SELECT ${VERSION_COLUMNS}, ${specText} AS specText
       FROM catalog_artifact a JOIN catalog_version v ON v.serial = a.faceSerial ${join}
       WHERE a.workspaceId = +? AND a.idFolded = +?`,
    );
  const readNamed = (specText: string, join: string) =>
    handle.prepare<[string, string, string], FoundRow>(
      `SELECT ${VERSION_COLUMNS}, ${specText} AS specText
       FROM catalog_artifact a JOIN catalog_version v ON v.artifactSerial = a.serial ${join}
       WHERE a.workspaceId = +? AND a.idFolded = +? AND v.version = +?`,
    );
  return {
    default: { spec: readDefault('s.text', SPEC), bare: readDefault('NULL', '') },
    named: { spec: readNamed('s.text', SPEC), bare: readNamed('NULL', '') },
    artifact: handle
      .prepare<[string, string], number>(
        'SELECT serial FROM catalog_artifact WHERE workspaceId = ? AND idFolded = ?',
      )
      .pluck(),
  };
}

/** Artifacts in SQLite. */
export function createArtifactStore(database: Database): ArtifactStore {
  const reads = prepareReads(database);
  const lists = createArtifactLists(database);
  const relations = createRelationsReader(database);
  const candidates = createCandidatesReader(database);
  return {
    version: () => database.version(),
    read: async (workspaceId, ref, { withSpec }) =>
      guard(() => readVersion(reads, workspaceId, { ...ref, part: withSpec ? 'spec' : 'bare' })),
    relations: async (workspaceId, record) => guard(() => relations(workspaceId, record)),
    candidates: async (workspaceId, id) =>
      guard(() => {
        const artifact = reads.artifact.get(workspaceId, foldId(id));
        return artifact === undefined ? undefined : candidates(artifact);
      }),
    ...createRenderedWrites(database),
    list: async (...input) => guard(() => lists.list(...input)),
    listVersions: async (...input) => guard(() => lists.listVersions(...input)),
    listAudit: (...input) => lists.listAudit(...input),
  };
}

function readVersion(
  reads: ReturnType<typeof prepareReads>,
  workspaceId: string,
  { id, version, part }: VersionRef & { part: 'spec' | 'bare' },
): ReadVersion {
  const folded = foldId(id);
  const row =
    version === undefined
      ? reads.default[part].get(workspaceId, folded)
      : reads.named[part].get(workspaceId, folded, version);
  if (!row) {
    const isKnown = reads.artifact.get(workspaceId, folded) !== undefined;
    return { kind: isKnown ? 'no-version' : 'no-artifact' };
  }
  const record = toRecord(row);
  if (version === undefined && !isReadable(record))
    return { kind: 'no-default', representative: record };
  return { kind: 'found', record, ...(row.specText !== null && { specText: row.specText }) };
}
