/** Lists of versions. Each filter is an equality or one range, so that an index leads to it. */
import type { Statements } from '#shared/database.ts';
import type { Listed, PageRange } from '#shared/pagination/page.ts';
import { foldId, type VersionRecord } from '../version/artifact.ts';
import {
  IN_GROUP,
  OF_ARTIFACT,
  VERSIONS,
  VERSION_COLUMNS,
  type VersionRow,
  toRecord,
} from '../version/read-version.ts';
import { orderOf } from '../version/version-order.ts';
import type { Range, SearchVersions } from './search.ts';

/** All that is given must hold; `groupPath` means itself and all below it, on segment boundaries. */
export type ListFilter = Partial<
  Pick<VersionRecord, 'type' | 'lifecycle' | 'owner' | 'source' | 'groupPath' | 'projectId'>
>;

export type ListQuery = ListFilter &
  PageRange & {
    workspaceId: string;
    /** One row per artifact (its default version, else a draft, else a retired one), or every version. */
    rows: 'artifacts' | 'versions';
    /** From `searchTerms`: a version must have every one of them, the beginning of a word suffices. */
    terms?: string[];
  };

const FILTERS = {
  type: 'v.type = @type',
  lifecycle: 'v.lifecycle = @lifecycle',
  owner: 'v.owner = @owner',
  source: 'v.source = @source',
  projectId: 'v.project_id = @projectId',
  groupPath: IN_GROUP,
} as const;

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

/** Selects the newest artifacts (or versions) first. */
export async function selectListed(
  tx: Statements,
  search: SearchVersions,
  query: ListQuery,
): Promise<Listed<VersionRecord>[]> {
  const { terms, ...values } = query;
  const range = rangeOf(query);
  const rows = terms
    ? await search(tx, range, { ...values, terms, values })
    : await tx.all<VersionRow>(
        `SELECT ${VERSION_COLUMNS} FROM ${VERSIONS} WHERE ${range.where}
         ORDER BY ${range.position} DESC LIMIT @limit`,
        values,
      );
  return rows.map((row) => ({
    item: toRecord(row),
    position: range.isByArtifact ? row.artifactSerial : row.serial,
  }));
}

/** Position of a version among an artifact's versions, highest first. */
type VersionPosition = [key: string, publishedAt: number, createdAt: number, serial: number];

const LIST_VERSIONS = `
  SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
  WHERE ${OF_ARTIFACT}
    AND (v.order_key, coalesce(v.published_at, 0), v.created_at, v.serial)
      < (@key, @publishedAt, @createdAt, @serial)
  ORDER BY v.order_key DESC, coalesce(v.published_at, 0) DESC, v.created_at DESC, v.serial DESC
  LIMIT @limit`;

/** Above every key: keys are ASCII and start with a digit. */
const TOP: VersionPosition = ['~', 0, 0, 0];

export type ArtifactRange<Position> = PageRange<Position> & { workspaceId: string; id: string };

/** Selects the versions of an artifact, the highest first. */
export async function selectVersions(
  tx: Statements,
  { workspaceId, id, after = TOP, limit }: ArtifactRange<VersionPosition>,
): Promise<Listed<VersionRecord, VersionPosition>[]> {
  const [key, publishedAt, createdAt, serial] = after;
  const position = { key, publishedAt, createdAt, serial };
  const values = { workspaceId, idFolded: foldId(id), ...position, limit };
  const rows = await tx.all<VersionRow>(LIST_VERSIONS, values);
  return rows.map((row) => ({ item: toRecord(row), position: positionOf(row) }));
}

function positionOf({ version, publishedAt = 0, createdAt, serial }: VersionRow): VersionPosition {
  return [orderOf(version).key, publishedAt, createdAt, serial];
}
