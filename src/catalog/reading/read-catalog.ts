import type { AuditEntry } from '#shared/audit.ts';
import { cutPage } from '#shared/pagination/cut-page.ts';
import { paginationOf, refuseCursor, sealPage, startPage } from '#shared/pagination/page.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { refuse } from '#shared/errors.ts';
import { foldId } from '../version/artifact.ts';
import type { VersionRecord } from '../version/artifact.ts';
import type { ListFilter, Lister, VersionPosition } from '../artifact-store.ts';
import { refuseUnknown } from '../version/version-view.ts';
import type { Caller, CatalogDeps } from '../version/version-view.ts';
import { isSearchable, SEARCH_TERMS_MAX, searchTerms } from './search-terms.ts';
import { orderOf } from '../version/order/version-order.ts';

type ReadDeps = Pick<CatalogDeps, 'store' | 'cursors'>;
/** On whose behalf something is read: a workspace is a part of every query. */
export type Reader = Pick<Caller, 'workspaceId'>;

export type Page<T> = { items: T[]; pagination: Pagination };

/** Filters of the catalog's list, called as their parameters. All of them must hold. */
export type CatalogFilters = ListFilter & {
  /** Every version; without it one row per artifact. */
  versions?: 'all';
  /** Full text over id, title, description, owner and groupPath: every word must begin a word. */
  q?: string;
};

export type PageRequest = { limit: number; cursor?: string };

/**
 * One page of the catalog, newest artifacts first (with every version: newest versions first).
 * Rows keep their place, so that a walk neither skips nor repeats what stays a member.
 * @throws {validation-failed} for a `q` without a letter or digit
 * @throws {invalid-cursor}
 */
export async function listCatalog(
  { store, cursors }: ReadDeps,
  { workspaceId }: Reader,
  { limit, cursor, ...given }: CatalogFilters & PageRequest,
): Promise<Page<VersionRecord>> {
  const list = { kind: 'catalog/2', binding: workspaceId };
  const { filters, position } = startPage(cursors, list, { cursor, filters: given });
  const { q, versions, ...rest } = filters;
  const listed = await store.list(workspaceId, {
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

/**
 * One page of an artifact's versions, highest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export async function listVersions(
  { store, cursors }: ReadDeps,
  { workspaceId }: Reader,
  { id, limit, cursor }: PageRequest & { id: string },
): Promise<Page<VersionRecord>> {
  const seal = sealFor(cursors, ['catalog-versions/1', [workspaceId, foldId(id)]]);
  const after = cursor === undefined ? undefined : toVersionPosition(seal.open(cursor));
  const page = { limit: limit + 1, ...(after !== undefined && { after }) };
  const listed = await store.listVersions(workspaceId, { id, ...page });
  if (!listed) refuseUnknown('no-artifact');
  const { items, last } = cutPage(listed, limit);
  return { items, pagination: paginationOf(last && seal.seal(positionOf(last))) };
}

/**
 * One page of the artifacts whose default version lists this one, newest first: see `ArtifactStore`.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export async function listListers(
  { store, cursors }: ReadDeps,
  { workspaceId }: Reader,
  { id, limit, cursor }: PageRequest & { id: string },
): Promise<Page<Lister>> {
  const seal = sealFor(cursors, ['catalog-listers/1', [workspaceId, foldId(id)]]);
  const after = cursor === undefined ? undefined : toPosition(seal.open(cursor));
  const page = { limit: limit + 1, ...(after !== undefined && { after }) };
  const listed = await store.listers(workspaceId, { id, ...page });
  if (!listed) refuseUnknown('no-artifact');
  const { items, last } = cutPage(listed, limit);
  const pagination = paginationOf(last && seal.seal(last.position));
  return { items: items.map(({ lister }) => lister), pagination };
}

/**
 * One page of what was done to an artifact, newest first.
 * @throws {artifact-not-found}
 * @throws {invalid-cursor}
 */
export async function listAudit(
  { store, cursors }: ReadDeps,
  { workspaceId }: Reader,
  { id, limit, cursor }: PageRequest & { id: string },
): Promise<Page<AuditEntry>> {
  const seal = sealFor(cursors, ['catalog-audit/1', [workspaceId, foldId(id)]]);
  const after = cursor === undefined ? undefined : toPosition(seal.open(cursor));
  const page = { limit: limit + 1, ...(after !== undefined && { after }) };
  const listed = await store.listAudit(workspaceId, { id, ...page });
  if (!listed) refuseUnknown('no-artifact');
  const { items, last } = cutPage(listed, limit);
  const pagination = paginationOf(last && seal.seal(last.position));
  return { items: items.map(({ entry }) => entry), pagination };
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

function sealFor(cursors: CatalogDeps['cursors'], [kind, bound]: [string, unknown[]]) {
  const binding = JSON.stringify(bound);
  return {
    seal: (position: unknown) => cursors.seal(kind, binding, position),
    open: (cursor: string) => cursors.open(kind, binding, cursor),
  };
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
