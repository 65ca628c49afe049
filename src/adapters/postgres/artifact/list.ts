import { foldId } from '#catalog/version/artifact.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type {
  ArtifactStore,
  ListedAudit,
  ListedVersion,
  ListQuery,
} from '#catalog/artifact-store.ts';
import { listAuditOf } from '../../store/audit-log.ts';
import type { Session } from '../connection/database.ts';
import { IN_GROUP } from './relations.ts';
import { toRecord, VERSION_COLUMNS } from './rows.ts';
import type { VersionRow } from './rows.ts';
import { auditSubject } from './write.ts';

const FROM = 'catalog_version v JOIN catalog_artifact a ON a.serial = v.artifact_serial';

const FILTERS = {
  type: 'v.type = @type',
  lifecycle: 'v.lifecycle = @lifecycle',
  owner: 'v.owner = @owner',
  source: 'v.source = @source',
  projectId: 'v.project_id = @projectId',
  groupPath: IN_GROUP,
} as const;

const FULL_TEXT = 'v.terms @@ @search::tsquery';

type Range = { where: string; position: string; page: string };

/** Each filter is an equality or one range; the rows come newest first. */
function rangeOf(query: ListQuery): Range {
  const isByArtifact = query.rows === 'artifacts';
  const position = isByArtifact ? 'v.artifact_serial' : 'v.serial';
  const names = Object.keys(FILTERS) as (keyof typeof FILTERS)[];
  const conditions = [
    'v.workspace_id = @workspaceId',
    ...(isByArtifact ? ['v.is_face'] : []),
    ...names.filter((name) => query[name] !== undefined).map((name) => FILTERS[name]),
    ...(query.after === undefined ? [] : [`${position} < @after`]),
  ];
  return {
    where: conditions.join(' AND '),
    position,
    page: `ORDER BY ${position} DESC LIMIT @limit`,
  };
}

/** So many of the newest are looked through for words that many versions may have. */
const RECENT = 2000;

/**
 * A search's words are those of many versions or of few, and the server cannot know which: among the
 * newest many are found soon, and few are found by the index of terms, which knows no order.
 */
async function listVersionsBy(
  session: Session,
  query: ListQuery,
  values: Readonly<Record<string, unknown>> & { limit: number },
): Promise<VersionRow[]> {
  const { where, position, page } = rangeOf(query);
  const select = `SELECT ${VERSION_COLUMNS} FROM ${FROM} WHERE`;
  if (query.terms === undefined) return session.all(`${select} ${where} ${page}`, values);
  const among = (found: string): Promise<VersionRow[]> =>
    session.all(
      `WITH found AS MATERIALIZED (${found}),
         page AS MATERIALIZED (SELECT v.serial FROM found AS v ${page})
       ${select} v.serial = ANY(ARRAY(SELECT serial FROM page)) ${page}`,
      values,
    );
  const recent = await among(`
    SELECT v.serial, v.artifact_serial
    FROM (SELECT v.serial, v.artifact_serial, v.terms FROM catalog_version v WHERE ${where}
      ORDER BY ${position} DESC LIMIT ${RECENT}) AS v
    WHERE ${FULL_TEXT}`);
  if (recent.length === values.limit) return recent;
  return among(
    `SELECT v.serial, v.artifact_serial FROM catalog_version v WHERE ${where} AND ${FULL_TEXT}`,
  );
}

/** Terms are letters and digits alone, so that none of them can end its quotes. */
function toSearch(terms: readonly string[]): string {
  return terms.map((term) => `'${term}':*`).join(' & ');
}

const LIST_VERSIONS = `
  SELECT ${VERSION_COLUMNS} FROM ${FROM}
  WHERE a.workspace_id = @workspaceId AND a.id_folded = @idFolded
    AND (v.order_key, coalesce(v.published_at, 0), v.created_at, v.serial)
      < (@key, @publishedAt, @createdAt, @serial)
  ORDER BY v.order_key DESC, coalesce(v.published_at, 0) DESC, v.created_at DESC, v.serial DESC
  LIMIT @limit`;

/** Above every key: keys are ASCII and start with a digit. */
const TOP = { key: '~', publishedAt: 0, createdAt: 0, serial: 0 };

const EXISTS = `
  SELECT 1 FROM catalog_artifact WHERE workspace_id = @workspaceId AND id_folded = @idFolded`;

/** The lists of the store. */
export function createArtifactLists(
  session: Session,
): Pick<ArtifactStore, 'list' | 'listVersions' | 'listAudit'> {
  const isThere = async (workspaceId: string, idFolded: string): Promise<boolean> =>
    (await session.get(EXISTS, { workspaceId, idFolded })) !== undefined;
  return {
    list: async (workspaceId, query): Promise<ListedVersion[]> => {
      const search = toSearch(query.terms ?? []);
      const values = { ...query, workspaceId, search };
      const rows = await listVersionsBy(session, query, values);
      return rows.map((row) => ({
        record: toRecord(row),
        position: query.rows === 'artifacts' ? row.artifactSerial : row.serial,
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
