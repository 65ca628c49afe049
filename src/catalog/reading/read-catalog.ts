import { z } from 'zod';
import { listAuditOf } from '#shared/audit.ts';
import type { Statements } from '#shared/database.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import { type Listed, type Page, type PageRequest, readPage } from '#shared/pagination/page.ts';
import type { JobOwner } from '../spec/spec-jobs.ts';
import type { SpecFormat } from '../spec/spec-yaml.ts';
import {
  foldId,
  type ListedVersion,
  type VersionRef,
  type VersionView,
} from '../version/artifact.ts';
import type { Catalog, Reader } from '../index.ts';
import { auditSubject, findArtifact, refuseUnknown } from '../version/read-version.ts';
import { readView } from '../version/version-view.ts';
import {
  type ArtifactRange,
  type ListFilter,
  selectListed,
  selectVersions,
} from './list-versions.ts';
import { isSearchable, SEARCH_TERMS_MAX, searchTerms } from './search-terms.ts';

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
