import { type AuditEntry, listAuditOf } from '#shared/audit.ts';
import type { Statements } from '#shared/database.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import {
  type Pagination,
  paginationOf,
  refuseCursor,
  sealPage,
  startPage,
} from '#shared/pagination/page.ts';
import type { SpecFormat } from '../spec/spec-yaml.ts';
import { foldId, type VersionRecord, type VersionRef } from '../version/artifact.ts';
import type { Catalog, Reader } from '../index.ts';
import { auditSubject, findArtifact, refuseUnknown } from '../version/read-version.ts';
import { type VersionView, readView } from '../version/version-view.ts';
import { orderOf } from '../version/version-order.ts';
import {
  type ListFilter,
  selectListed,
  selectVersions,
  type VersionPosition,
} from './list-versions.ts';
import { isSearchable, SEARCH_TERMS_MAX, searchTerms } from './search-terms.ts';

type Page<T> = { items: T[]; pagination: Pagination };

/** Filters of the catalog's list, called as their parameters. All of them must hold. */
type CatalogFilters = ListFilter & {
  /** Every version; without it one row per artifact. */
  versions?: 'all';
  /** Full text over id, title, description, owner and groupPath: every word must begin a word. */
  q?: string;
};

type PageRequest = { limit: number; cursor?: string };

/** `id`: of the artifact. */
type ArtifactPageRequest = PageRequest & { id: string };

/**
 * One page of the catalog, newest artifacts first (with every version: newest versions first).
 * Rows keep their place, so that a walk neither skips nor repeats what stays a member.
 * @throws {validation-failed} for a `q` without a letter or digit
 * @throws {invalid-cursor}
 */
export async function listCatalog(
  { db, search, cursors }: Catalog,
  { workspaceId }: Reader,
  { limit, cursor, ...requested }: CatalogFilters & PageRequest,
): Promise<Page<VersionRecord>> {
  const list = { kind: 'catalog/2', binding: workspaceId };
  const { filters, position } = startPage(cursors, list, { cursor, filters: requested });
  const { q, versions, ...rest } = filters;
  const listed = await selectListed(db, search, {
    workspaceId,
    ...rest,
    rows: versions === 'all' ? 'versions' : 'artifacts',
    ...(q !== undefined && { terms: requireTerms(q) }),
    ...(position !== undefined && { after: toPosition(position) }),
    limit: limit + 1,
  });
  const { items, last } = cutPage(listed, limit);
  const next = last && sealPage(cursors, list, { filters, position: last.position });
  return { items: items.map(({ record }) => record), pagination: paginationOf(next) };
}

const PUBLISHED_MAX = 1000;

/** The newest 1,000 artifacts of a workspace whose default version is PUBLISHED. */
export async function listPublished(
  { db, search }: Catalog,
  workspaceId: string,
): Promise<VersionRecord[]> {
  const listed = await selectListed(db, search, {
    workspaceId,
    rows: 'artifacts',
    lifecycle: 'PUBLISHED',
    limit: PUBLISHED_MAX,
  });
  return listed.map(({ record }) => record);
}

/**
 * One page of an artifact's versions, highest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export async function listVersions(
  catalog: Catalog,
  reader: Reader,
  request: ArtifactPageRequest,
): Promise<Page<VersionRecord>> {
  return pageOfArtifact(catalog, reader, request, {
    kind: 'catalog-versions/1',
    list: selectVersions,
    positionOf,
    toPosition: toVersionPosition,
  });
}

/**
 * One page of what was done to an artifact, newest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export async function listAudit(
  catalog: Catalog,
  reader: Reader,
  request: ArtifactPageRequest,
): Promise<Page<AuditEntry>> {
  const { items, pagination } = await pageOfArtifact(catalog, reader, request, {
    kind: 'catalog-audit/1',
    list: (tx, { id, ...page }) => listAuditOf(tx, auditSubject(reader.workspaceId, id), page),
    positionOf: ({ position }) => position,
    toPosition,
  });
  return { items: items.map(({ entry }) => entry), pagination };
}

/** Rows that an artifact has, each with its position in their order. */
type ArtifactRows<Row, Position> = {
  /** Of its cursors, with a number that changes with their shape. */
  kind: string;
  list: (
    tx: Statements,
    page: { workspaceId: string; id: string; limit: number; after: Position | undefined },
  ) => Promise<Row[]>;
  positionOf: (row: Row) => unknown;
  /** @throws {invalid-cursor} */
  toPosition: (value: unknown) => Position;
};

async function pageOfArtifact<Row, Position>(
  { db, cursors }: Catalog,
  { workspaceId }: Reader,
  { id, limit, cursor }: ArtifactPageRequest,
  rows: ArtifactRows<Row, Position>,
): Promise<Page<Row>> {
  const binding = JSON.stringify([workspaceId, foldId(id)]);
  const after =
    cursor === undefined ? undefined : rows.toPosition(cursors.open(rows.kind, binding, cursor));
  if ((await findArtifact(db, workspaceId, id)) === undefined) refuseUnknown('no-artifact');
  const listed = await rows.list(db, { workspaceId, id, limit: limit + 1, after });
  const { items, last } = cutPage(listed, limit);
  const next = last && cursors.seal(rows.kind, binding, rows.positionOf(last));
  return { items, pagination: paginationOf(next) };
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

function toPosition(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : refuseCursor();
}

function positionOf(record: VersionRecord): [string, number, number, number] {
  const { version, publishedAt = 0, createdAt, serial } = record;
  return [orderOf(version).key, publishedAt, createdAt, serial];
}

function toVersionPosition(value: unknown): VersionPosition {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return refuseCursor();
  const [key, ...numbers] = value;
  const [publishedAt, createdAt, serial] = numbers.map(toPosition);
  if (publishedAt === undefined || createdAt === undefined || serial === undefined)
    return refuseCursor();
  return { key, publishedAt, createdAt, serial };
}

/** The spec of one version as a text, with the version that it is of. */
type SpecView = { view: VersionView; format: SpecFormat; text: string };

/**
 * Reads the spec alone; without `version`, of the version that a read returns. JSON is the text that is
 * stored, and comes also in the place of YAML that would be longer than 16 Mi characters.
 * @throws {artifact-not-found} @throws {no-published-version}
 * @throws {not-found} when the version has no spec @throws {overloaded}
 */
export async function readSpec(
  { db, renderSpecYaml }: Catalog,
  reader: Reader,
  { format, ...ref }: VersionRef & { format: SpecFormat },
): Promise<SpecView> {
  const view = await readView(db, reader, { ...ref, withSpec: true });
  const { record, specText } = view;
  if (specText === undefined)
    throw new TrackportError('not-found', { detail: `Version ${record.version} has no spec.` });
  const yaml = format === 'yaml' ? await renderSpecYaml(specText, reader.signal) : undefined;
  return yaml === undefined
    ? { view, format: 'json', text: specText }
    : { view, format: 'yaml', text: yaml };
}
