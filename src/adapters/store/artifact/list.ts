import { foldId, type VersionRecord } from '#catalog/version/artifact.ts';
import type {
  ArtifactStore,
  ListedAudit,
  ListedVersion,
  ListQuery,
} from '#catalog/artifact-store.ts';
import { listAuditOf } from '../audit-log.ts';
import type { Session, Values } from '../session.ts';
import { IN_GROUP } from './relations.ts';
import { auditSubject, OF_ARTIFACT, toRecord, VERSION_COLUMNS, type VersionRow } from './rows.ts';

/** Versions with their artifacts. */
export const VERSIONS = 'catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial';

const FILTERS = {
  type: 'v.type = @type',
  lifecycle: 'v.lifecycle = @lifecycle',
  owner: 'v.owner = @owner',
  source: 'v.source = @source',
  projectId: 'v.project_id = @projectId',
  groupPath: IN_GROUP,
} as const;

/** What a list looks through, as conditions of `catalog_version v`. */
type Range = {
  where: string;
  /** The column that a list is in the order of, newest first. */
  position: string;
  isByArtifact: boolean;
};

/**
 * The page of a range whose versions have all terms; how full text is read is the engine's own. `values` are
 * those of the range, and `limit`.
 */
export type SearchVersions = (
  session: Session,
  range: Range,
  query: { terms: readonly string[]; limit: number; after?: number; values: Values },
) => Promise<VersionRow[]>;

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

const EXISTS = `SELECT 1 FROM catalog_artifact a WHERE ${OF_ARTIFACT}`;

/** The lists of the store. */
export function createArtifactLists(
  session: Session,
  search: SearchVersions,
): Pick<ArtifactStore, 'list' | 'listVersions' | 'listAudit'> {
  const isThere = async (workspaceId: string, idFolded: string): Promise<boolean> =>
    (await session.get(EXISTS, { workspaceId, idFolded })) !== undefined;
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
      if (!(await isThere(workspaceId, idFolded))) return undefined;
      const values = { workspaceId, idFolded, ...after, limit };
      return (await session.all<VersionRow>(LIST_VERSIONS, values)).map(toRecord);
    },
    listAudit: async (workspaceId, { id, ...page }): Promise<ListedAudit[] | undefined> => {
      if (!(await isThere(workspaceId, foldId(id)))) return undefined;
      return listAuditOf(session, auditSubject(workspaceId, id), page);
    },
  };
}
