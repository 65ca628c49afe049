import { foldId, type VersionRecord } from '#catalog/version/artifact.ts';
import type {
  ArtifactStore,
  ListedAudit,
  ListedVersion,
  ListQuery,
  ReadVersion,
  VersionRef,
} from '#catalog/artifact-store.ts';
import { isReadable } from '#catalog/version/version-order.ts';
import { listAuditOf } from '#shared/audit-log.ts';
import type { Tx, Database } from '#shared/database.ts';
import { bindWrites } from '../bind-writes.ts';
import { IN_GROUP, readRelations } from './relations.ts';
import {
  auditSubject,
  OF_ARTIFACT,
  readCandidates,
  toRecord,
  VERSION_COLUMNS,
  type VersionRow,
  VERSIONS,
} from './rows.ts';
import type { Range, SearchVersions } from './search.ts';
import { artifactWrites } from './writes.ts';

const FILTERS = {
  type: 'v.type = @type',
  lifecycle: 'v.lifecycle = @lifecycle',
  owner: 'v.owner = @owner',
  source: 'v.source = @source',
  projectId: 'v.project_id = @projectId',
  groupPath: IN_GROUP,
} as const;

/** Each filter is an equality or one range, so that an index leads to it. */
function rangeOf(query: ListQuery): Range {
  const isByArtifact = query.rows === 'artifacts';
  const position = isByArtifact ? 'v.artifact_serial' : 'v.serial';
  const names = Object.keys(FILTERS) as (keyof typeof FILTERS)[];
  const conditions = [
    'v.workspace_id = @workspaceId',
    ...(isByArtifact ? ['v.is_listed = true'] : []),
    ...names.filter((name) => query[name] !== undefined).map((name) => FILTERS[name]),
    ...(query.after === undefined ? [] : [`${position} < @after`]),
  ];
  return { where: conditions.join(' AND '), position, isByArtifact };
}

const LIST_VERSIONS = `
  SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
  WHERE ${OF_ARTIFACT}
    AND (v.order_key, coalesce(v.published_at, 0), v.created_at, v.serial)
      < (@key, @publishedAt, @createdAt, @serial)
  ORDER BY v.order_key DESC, coalesce(v.published_at, 0) DESC, v.created_at DESC, v.serial DESC
  LIMIT @limit`;

/** Above every key: keys are ASCII and start with a digit. */
const TOP = { key: '~', publishedAt: 0, createdAt: 0, serial: 0 };

/** The lists of the store. */
export function createArtifactLists(
  session: Tx,
  search: SearchVersions,
): Pick<ArtifactStore, 'list' | 'listVersions' | 'listAudit'> {
  return {
    list: async (workspaceId, query): Promise<ListedVersion[]> => {
      const { terms, ...filter } = query;
      const range = rangeOf(query);
      const values = { ...filter, workspaceId };
      const rows = terms
        ? await search(session, range, { ...filter, terms, values })
        : await session.all<VersionRow>(
            `SELECT ${VERSION_COLUMNS} FROM ${VERSIONS} WHERE ${range.where}
             ORDER BY ${range.position} DESC LIMIT @limit`,
            values,
          );
      return rows.map((row) => ({
        record: toRecord(row),
        position: range.isByArtifact ? row.artifactSerial : row.serial,
      }));
    },
    listVersions: async (
      workspaceId,
      { id, after = TOP, limit },
    ): Promise<VersionRecord[] | undefined> => {
      const idFolded = foldId(id);
      if ((await findArtifact(session, workspaceId, idFolded)) === undefined) return undefined;
      const values = { workspaceId, idFolded, ...after, limit };
      return (await session.all<VersionRow>(LIST_VERSIONS, values)).map(toRecord);
    },
    listAudit: async (workspaceId, { id, ...page }): Promise<ListedAudit[] | undefined> => {
      if ((await findArtifact(session, workspaceId, foldId(id))) === undefined) return undefined;
      return listAuditOf(session, auditSubject(workspaceId, id), page);
    },
  };
}

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
  database: Database;
  search: SearchVersions;
};

/** Artifacts, whatever the engine. */
export function createArtifactStore({ database, search }: ArtifactStoreDeps): ArtifactStore {
  return {
    ...bindWrites(database.transaction, artifactWrites),
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
  session: Tx,
  workspaceId: string,
  idFolded: string,
): Promise<number | undefined> {
  return (await session.get<{ serial: number }>(ARTIFACT, { workspaceId, idFolded }))?.serial;
}

async function readVersion(
  session: Tx,
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
