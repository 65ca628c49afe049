/** Lists of the catalog and of an artifact, and the spec of a version. */
import { z } from 'zod';
import { listAuditOf } from '#shared/audit.ts';
import type { Statements } from '#shared/database.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import {
  type Listed,
  type Page,
  type PageRange,
  type PageRequest,
  readPage,
} from '#shared/pagination/page.ts';
import type { JobOwner } from '../spec/spec-jobs.ts';
import type { SpecFormat } from '../spec/spec-text.ts';
import {
  foldId,
  type ListedVersion,
  type VersionRecord,
  type VersionRef,
  type VersionView,
} from '../version/artifact.ts';
import type { Catalog, Reader } from '../index.ts';
import {
  auditSubject,
  findArtifact,
  IN_GROUP,
  LISTED_COLUMNS,
  OF_ARTIFACT,
  refuseUnknown,
  VERSIONS,
} from '../version/read-version.ts';
import { readView } from '../version/version-view.ts';
import { orderOf } from '../version/version-order.ts';
import { isSearchable, SEARCH_TERMS_MAX, searchTerms } from './search-terms.ts';
import type { ListedRow, Range, SearchVersions } from './search.ts';

/** Filters of the catalog's list, called as their parameters. All of them must hold. */
type CatalogFilters = ListFilter & {
  /** Every version; without it one row per artifact. */
  versions?: 'all';
  /** Full text over id, title, description, owner and groupPath: every word must begin a word. */
  q?: string;
};

/**
 * One page of the catalog, newest artifacts first (with every version: newest versions first).
 * Rows keep their place, so that a walk neither skips nor repeats what stays a member.
 * @throws {validation-failed} for a `q` without a letter or digit
 * @throws {invalid-cursor}
 */
export async function listCatalog(
  { db, search, cursors }: Catalog,
  { workspaceId }: Reader,
  { limit, cursor, ...filter }: CatalogFilters & PageRequest,
): Promise<Page<ListedVersion>> {
  const list = { kind: 'catalog/2', binding: workspaceId, position: z.int() };
  return readPage(cursors, list, { filter, limit, cursor }, ({ filter: all, ...range }) => {
    const { q, versions, ...rest } = all;
    return selectListed(db, search, {
      workspaceId,
      ...rest,
      ...range,
      rows: versions === 'all' ? 'versions' : 'artifacts',
      ...(q !== undefined && { terms: requireTerms(q) }),
    });
  });
}

const PUBLISHED_MAX = 1000;

/** The newest 1,000 artifacts of a workspace whose default version is PUBLISHED. */
export async function listPublished(
  { db, search }: Catalog,
  workspaceId: string,
): Promise<ListedVersion[]> {
  const listed = await selectListed(db, search, {
    workspaceId,
    rows: 'artifacts',
    lifecycle: 'PUBLISHED',
    limit: PUBLISHED_MAX,
  });
  return listed.map(({ item }) => item);
}

/**
 * One page of an artifact's versions, highest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export const listVersions = pageOfArtifact({
  kind: 'catalog-versions/1',
  position: z.tuple([z.string(), z.int(), z.int(), z.int()]),
  read: selectVersions,
});

/**
 * One page of what was done to an artifact, newest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export const listAudit = pageOfArtifact({
  kind: 'catalog-audit/1',
  position: z.int(),
  read: (db, { workspaceId, id, ...range }) =>
    listAuditOf(db, auditSubject(workspaceId, id), range),
});

/** Rows that an artifact has. */
type ArtifactRows<Item, Position> = {
  /** Of its cursors, with a number that changes with their shape. */
  kind: string;
  position: z.ZodType<Position>;
  read: (db: Statements, range: ArtifactRange<Position>) => Promise<Listed<Item, Position>[]>;
};

function pageOfArtifact<Item, Position>({ read, ...list }: ArtifactRows<Item, Position>) {
  return (
    { db, cursors }: Catalog,
    { workspaceId }: Reader,
    { id, ...page }: PageRequest & { id: string },
  ): Promise<Page<Item>> => {
    const binding = JSON.stringify([workspaceId, foldId(id)]);
    const request = { ...page, filter: undefined };
    return readPage(cursors, { ...list, binding }, request, async ({ limit, after }) => {
      if ((await findArtifact(db, workspaceId, id)) === undefined) refuseUnknown('no-artifact');
      return read(db, { workspaceId, id, limit, after });
    });
  };
}

function requireTerms(q: string): string[] {
  if (isSearchable(q)) return [...new Set(searchTerms(q))];
  return refuse([
    {
      parameter: 'q',
      code: 'out-of-range',
      detail: `The search has 1 to ${SEARCH_TERMS_MAX} words of letters and digits.`,
    },
  ]);
}

/** The spec of one version as a text, with the version that it is of. */
type SpecView = { view: VersionView; format: SpecFormat; text: string };

/**
 * Reads the spec alone; without `version`, of the version that a read returns. JSON is the text that is
 * stored, and comes also in the place of YAML that would be longer than 16 Mi characters.
 * @throws {artifact-not-found} @throws {no-published-version}
 * @throws {not-found} when the version has no spec
 * @throws {quota-exceeded} @throws {overloaded}
 */
export async function readSpec(
  { db, renderSpecYaml }: Catalog,
  reader: JobOwner,
  { format, ...ref }: VersionRef & { format: SpecFormat },
): Promise<SpecView> {
  const view = await readView(db, reader, { ...ref, withSpec: true });
  const { record, specText } = view;
  if (specText === undefined)
    throw new TrackportError('not-found', { detail: `Version ${record.version} has no spec.` });
  const yaml = format === 'yaml' ? await renderSpecYaml(specText, reader) : undefined;
  return yaml === undefined
    ? { view, format: 'json', text: specText }
    : { view, format: 'yaml', text: yaml };
}

/**
 * All that is given must hold; `groupPath` means itself and all below it, on segment boundaries. Each is an equality or
 * one range, so that an index leads to it.
 */
type ListFilter = Partial<
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

type ArtifactRange<Position> = PageRange<Position> & { workspaceId: string; id: string };

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
