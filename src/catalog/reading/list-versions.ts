/** Lists of versions. Each filter is an equality or one range, so that an index leads to it. */
import type { Statements } from '#shared/database.ts';
import type { Listed, PageRange } from '#shared/pagination/page.ts';
import { foldId, type ListedVersion, type VersionRecord } from '../version/artifact.ts';
import { IN_GROUP, LISTED_COLUMNS, OF_ARTIFACT, VERSIONS } from '../version/read-version.ts';
import { orderOf } from '../version/version-order.ts';
import type { ListedRow, Range, SearchVersions } from './search.ts';

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
  db: Statements,
  search: SearchVersions,
  query: ListQuery,
): Promise<Listed<ListedVersion>[]> {
  const { terms, ...values } = query;
  const range = rangeOf(query);
  const rows = terms
    ? await search(db, range, { ...values, terms, values })
    : await db.all<ListedRow>(
        `SELECT ${LISTED_COLUMNS}, v.artifact_serial FROM ${VERSIONS} WHERE ${range.where}
         ORDER BY ${range.position} DESC LIMIT @limit`,
        values,
      );
  return rows.map((item) => ({
    item,
    position: range.isByArtifact ? item.artifactSerial : item.serial,
  }));
}

/** Position of a version among an artifact's versions, highest first. */
type VersionPosition = [key: string, publishedAt: number, createdAt: number, serial: number];

const LIST_VERSIONS = `
  SELECT ${LISTED_COLUMNS} FROM ${VERSIONS}
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
  db: Statements,
  { workspaceId, id, after = TOP, limit }: ArtifactRange<VersionPosition>,
): Promise<Listed<ListedVersion, VersionPosition>[]> {
  const [key, publishedAt, createdAt, serial] = after;
  const position = { key, publishedAt, createdAt, serial };
  const values = { workspaceId, idFolded: foldId(id), ...position, limit };
  const rows = await db.all<ListedVersion>(LIST_VERSIONS, values);
  return rows.map((item) => ({ item, position: positionOf(item) }));
}

function positionOf({
  version,
  publishedAt = 0,
  createdAt,
  serial,
}: ListedVersion): VersionPosition {
  return [orderOf(version).key, publishedAt, createdAt, serial];
}

const COUNT_FINDINGS = `
  SELECT serial, json_array_length(findings::json) AS findings FROM catalog_version
  WHERE serial = ANY(@serials::bigint[]) AND findings IS NOT NULL`;

/** Number of findings of those of the versions that have some, by their serials. */
export async function countFindings(
  db: Statements,
  versions: readonly Pick<ListedVersion, 'serial'>[],
): Promise<ReadonlyMap<number, number>> {
  const serials = versions.map(({ serial }) => serial);
  const rows = await db.all<{ serial: number; findings: number }>(COUNT_FINDINGS, { serials });
  return new Map(rows.map(({ serial, findings }) => [serial, findings]));
}
